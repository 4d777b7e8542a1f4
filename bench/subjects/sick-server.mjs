// Answers after some milliseconds, but for one defect that is known exactly.
//   node sick-server.mjs silent|frozen ANSWER_MS
// silent: every tenth request is never answered. frozen: from 3 s after its first request on, no answer leaves for 2 s.
import { createServer } from "node:http";

const FREEZE_FROM_MS = 3000;
const FREEZE_MS = 2000;
const [defect, answerMs] = process.argv.slice(2);
const tookMs = [];
const held = [];
let seen = 0;
let isFrozen = false;

const server = createServer((_, response) => {
  if (seen++ === 0 && defect === "frozen") setTimeout(freeze, FREEZE_FROM_MS);
  if (defect === "silent" && seen % 10 === 0) return;
  const startMs = performance.now();
  const answer = () => {
    tookMs.push(performance.now() - startMs);
    response.end("ok");
  };
  setTimeout(() => (isFrozen ? held.push(answer) : answer()), Number(answerMs));
});
server.keepAliveTimeout = 60_000;

function freeze() {
  isFrozen = true;
  setTimeout(() => {
    isFrozen = false;
    for (const answer of held.splice(0)) answer();
  }, FREEZE_MS);
}

server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("message", () => {
  tookMs.sort((a, b) => a - b);
  process.send({ seen, medianMs: tookMs[Math.floor(tookMs.length / 2)] });
});
process.on("disconnect", () => process.exit(0));
