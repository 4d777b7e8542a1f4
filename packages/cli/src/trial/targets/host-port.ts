/** `http://127.0.0.1:9001` as `127.0.0.1:9001`, the way most configurations name a server. */
export function hostPort(url: string): string {
  return new URL(url).host;
}
