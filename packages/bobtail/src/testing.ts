/**
 * `bobtail/testing`: for the tests of those who call services with Bobtail. Virtual time, and endpoints
 * that answer as a script says: nothing waits, nothing is random, nothing opens a socket.
 */
export {
  type ScriptedCopy,
  type ScriptedFunction,
  type ScriptedOutcome,
  scriptedFunction,
} from "./transports/testing/scripted-function.ts";
export {
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedTransport,
  scriptedTransport,
} from "./transports/testing/scripted-transport.ts";
export { type VirtualTime, virtualTime } from "./transports/testing/virtual-time.ts";
