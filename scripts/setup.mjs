// Makes a clone ready: installs from the lockfile and builds, each only when something changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}node_modules/.setup`;
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  fail(
    `Bobtail needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and run the same command again.`,
  );
}

const wanted = createHash("sha256")
  .update(readFileSync(`${root}package-lock.json`))
  .digest("hex");
const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
if (installed !== wanted) {
  say("Installing from the lockfile (once; about half a minute) ...");
  // Where the registry lacks an optional package, one npm leaves it out of the lockfile and another refuses
  // a lockfile without it. `npm install` takes the same versions, and --no-save leaves the lockfile alone.
  if (spawn("npm", ["ci", ...QUIET], ["ignore", 2, "ignore"]).status !== 0) {
    say("`npm ci` failed; trying `npm install --no-save`, which takes the same versions ...");
    run(
      "npm",
      ["install", "--no-save", ...QUIET],
      "The install failed. The lines above say why; `npm ci` repeats it.",
    );
  }
  mkdirSync(`${root}node_modules`, { recursive: true });
  writeFileSync(stamp, wanted);
}
if (!existsSync(`${root}packages/cli/dist/main.js`)) say("Building (once; a few seconds) ...");
run(
  process.execPath,
  [`${root}node_modules/typescript/bin/tsc`, "-b"],
  "The build failed. `npx tsc -b` repeats it.",
);

function run(command, args, remedy) {
  const { status, error } = spawn(command, args, ["ignore", 2, 2]);
  if (status !== 0) fail(error ? `${error.message}. ${remedy}` : remedy);
}

// stdout belongs to the command that follows (`npm start -- --json`), so a child's goes to stderr.
function spawn(command, args, stdio) {
  // npm is a script on Windows, which only a shell can start.
  const shell = process.platform === "win32" && command === "npm";
  return spawnSync(command, args, { cwd: root, stdio, shell });
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
