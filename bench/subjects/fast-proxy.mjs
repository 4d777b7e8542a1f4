import { createServer } from "node:http";
import fastProxy from "fast-proxy";

const { proxy } = fastProxy({
  base: process.argv[2],
  http: { agentOptions: { keepAlive: true, maxSockets: 256 } },
});
createServer((request, response) => proxy(request, response, request.url, {})).listen(
  Number(process.argv[3]),
  "127.0.0.1",
);
process.on("disconnect", () => process.exit(0));
