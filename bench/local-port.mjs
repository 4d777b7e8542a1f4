import { createServer } from "node:net";

/** A port of 127.0.0.1 that nobody listens on now. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Resolves when a server there answers 200; rejects after ten seconds. */
export async function answering(port) {
  for (let tries = 0; tries < 100; tries++) {
    const ok = await fetch(`http://127.0.0.1:${port}/`).then(
      (r) => r.text().then(() => r.status === 200),
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing answers on port ${port}`);
}
