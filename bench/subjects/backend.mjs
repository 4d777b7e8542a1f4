// A backend that answers at once: the proxies' own cost is what remains.
import { createServer } from "node:http";

const body = Buffer.from("x".repeat(Number(process.argv[2] ?? 128)));
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/plain", "content-length": body.length });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "0.0.0.0", () => process.send({ port: server.address().port }));
process.on("disconnect", () => process.exit(0));
