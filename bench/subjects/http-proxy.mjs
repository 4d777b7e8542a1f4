import { Agent } from "node:http";
import httpProxy from "http-proxy";

const proxy = httpProxy.createProxyServer({
  target: process.argv[2],
  agent: new Agent({ keepAlive: true, maxSockets: 256 }),
});
proxy.on("error", (_error, _request, response) => response.destroy?.());
proxy.listen(Number(process.argv[3]), "127.0.0.1");
process.on("disconnect", () => process.exit(0));
