/**
 * undici's RoundRobinPool: its connections take turns. It is made for one name with several addresses behind it,
 * so each new connection here goes to the next backend, as a rotating name does it.
 */
import { buildConnector, RoundRobinPool } from "undici";
import { serveFront } from "./front.ts";
import { type ProgramSettings, readSettings } from "./settings.ts";
import { sendThrough } from "./undici-send.ts";

interface Settings extends ProgramSettings {
  readonly connections: number;
}

const { port, backends, connections } = readSettings<Settings>();
const origin = backends[0] ?? "";
const dial = buildConnector({});
let dialled = 0;
const pool = new RoundRobinPool(origin, {
  connections,
  connect: (options, callback) => {
    const { hostname, host, port } = new URL(backends[dialled++ % backends.length] ?? origin);
    dial({ ...options, hostname, host, port }, callback);
  },
});
serveFront(port, (request) => sendThrough(pool, origin, request));
