// Puts a compressed copy beside every file that was built, for browsers that take it; and fails if there is too much.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const MOST = 250_000;
const TEXT = /\.(html|js|css|svg)$/;

let sum = 0;
for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !TEXT.test(entry.name)) continue;
  const zipped = gzipSync(readFileSync(path), { level: 9 });
  writeFileSync(`${path}.gz`, zipped);
  sum += zipped.length;
}
console.log(`${Math.round(sum / 1000)} kB compressed`);
if (sum > MOST) throw new Error(`the pages are ${sum} bytes, and may have ${MOST}`);
