// A closed loop with undici's dispatch: as fast as it goes, nothing recorded.
//   node load-undici.mjs URL REQUESTS CONNECTIONS
import { Pool } from "undici";

const [url, requests, connections] = process.argv.slice(2);
const { origin, pathname: path } = new URL(url);
const pool = new Pool(origin, { connections: Number(connections), pipelining: 1 });
let left = Number(requests);
const startMs = performance.now();
const one = () =>
  new Promise((resolve, reject) => {
    pool.dispatch(
      { method: "GET", path },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd: resolve,
        onResponseError: (_, error) => reject(error),
      },
    );
  });
const worker = async () => {
  while (left-- > 0) await one();
};
await Promise.all(Array.from({ length: Number(connections) }, worker));
const ratePerSec = (Number(requests) / (performance.now() - startMs)) * 1000;
console.log(JSON.stringify({ ledger: { ok: Number(requests) }, ratePerSec }));
await pool.close();
