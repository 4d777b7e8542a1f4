import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command, running. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves with the first match in what stderr has said since the last match; rejects when the process ends without. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

export function startCli(
  args: readonly string[],
  {
    env = {},
    cwd,
    stdoutFile,
  }: { env?: Record<string, string>; cwd?: string; stdoutFile?: string } = {},
): CliProcess {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...inherited, ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ["ignore", stdoutFile === undefined ? "pipe" : openSync(stdoutFile, "w"), "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let readTo = 0;
  let look = (): void => undefined;
  child.stdout?.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
    look();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
  return {
    child,
    finished,
    said(pattern) {
      return new Promise((resolve, reject) => {
        look = () => {
          const match = pattern.exec(stderr.slice(readTo));
          if (match === null) return;
          readTo += match.index + match[0].length;
          look = () => undefined;
          resolve(match);
        };
        look();
        void finished.then(() => reject(new Error(`never said ${pattern}: ${stderr}`)));
      });
    },
  };
}

export function runCli(...args: readonly string[]): Promise<Finished> {
  return startCli(args).finished;
}

export interface Backend {
  readonly url: string;
  readonly server: Server;
  /** Requests that were received and are answered only by this. */
  release(): void;
}

/** Answers with its name; `/slow` waits until it is released. */
export async function startBackend(name: string): Promise<Backend> {
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/slow") held.push(() => response.end(name));
    else response.end(name);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    release() {
      for (const answer of held.splice(0)) answer();
    },
  };
}
