import { fanOutRows } from "./fan-out-rows.ts";
import { hedgeRows } from "./hedge-rows.ts";
import { queueRows } from "./queue-rows.ts";
import { seedLeafRows } from "./seed-leaf-rows.ts";
import type { VerifyRow } from "./verify-row.ts";

/** Every row of the acceptance list that is arithmetic: rows 29 to 34, 38 to 43, 45, 46, 52 and 54 to 56. */
export const planRows: readonly VerifyRow[] = [
  ...fanOutRows,
  ...seedLeafRows,
  ...hedgeRows,
  ...queueRows,
].sort((a, b) => a.row - b.row);
