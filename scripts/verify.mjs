// Computes the acceptance list: `npm run verify`. Also the script of its threads.
import { verifyMain } from "../packages/cli/dist/verify/verify.js";

await verifyMain(new URL(import.meta.url), process.argv.slice(2));
