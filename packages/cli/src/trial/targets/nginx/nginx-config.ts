import { hostPort } from "../host-port.ts";
import type { TargetPlace } from "../target.ts";
import { type TargetTimes, targetTimes } from "../target-times.ts";

/** What differs between nginx's targets. */
export interface NginxVariant {
  /** Lines of the upstream block before the servers; "" for round robin. */
  readonly method: string;
  /** After each server's address. */
  readonly server: string;
  /** Lines of the location block on failures and timeouts. */
  failures(times: TargetTimes): readonly string[];
}

export function nginxConfig(
  backends: readonly string[],
  place: TargetPlace,
  variant: NginxVariant,
): string {
  const { port, directory } = place;
  // Root's workers would become `nobody`, who may not enter a folder that is its user's alone.
  const user = process.getuid?.() === 0 ? "user root;\n" : "";
  const servers = backends
    .map((url) => `    server ${hostPort(url)} ${variant.server};`)
    .join("\n");
  const method = variant.method === "" ? "" : `    ${variant.method}\n`;
  const failures = variant
    .failures(targetTimes(place))
    .map((line) => `      ${line}\n`)
    .join("");
  return `${user}daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
lock_file ${directory}/nginx.lock;
error_log stderr error;

events {
  worker_connections 8192;
}

http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;

  upstream fleet {
${method}${servers}
    keepalive 1024;
    keepalive_requests 1000000;
  }

  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 1000000;

    location / {
      proxy_pass http://fleet;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
${failures}    }
  }
}
`;
}
