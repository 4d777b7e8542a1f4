/** undici's BalancedPool: a pool of connections to each backend, weighted by connection errors. */
import { BalancedPool } from "undici";
import { serveFront } from "./front.ts";
import { readSettings } from "./settings.ts";
import { sendThrough } from "./undici-send.ts";

const { port, backends } = readSettings();
const pool = new BalancedPool([...backends]);
serveFront(port, (request) => sendThrough(pool, backends[0] ?? "", request));
