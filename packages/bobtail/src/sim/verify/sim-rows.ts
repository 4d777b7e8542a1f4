import { choiceRows } from "./choice-rows.ts";
import { hedgeRows } from "./hedge-rows.ts";
import { queueRows } from "./queue-rows.ts";
import { leafRows } from "./sampling-rows.ts";
import type { SimRow } from "./sim-row.ts";

/** Facts from theory, from exact integration and from independent simulations that this simulator must show. */
export const simRows: readonly SimRow[] = [...queueRows, ...choiceRows, ...hedgeRows, ...leafRows];
