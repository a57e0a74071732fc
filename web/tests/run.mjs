// Bundles the TypeScript of the named folder's tests and gives them to node's own test runner.
//
//   node tests/run.mjs unit
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const [folder = "unit", ...only] = process.argv.slice(2);
const here = join(import.meta.dirname, folder);
const names = readdirSync(here).filter((name) => name.endsWith(".test.ts") && (only.length === 0 || only.some((word) => name.includes(word))));
// Beside the packages, so that those left outside of the bundle are found.
const out = mkdtempSync(join(import.meta.dirname, "..", "node_modules", ".tests-"));
try {
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ""), join(here, name)])),
    platform: "node",
    external: [/^node:/, "playwright-core", "axe-core"],
    moduleTypes: { ".css": "empty" },
    logLevel: "warn",
  });
  await bundle.write({ dir: out, format: "esm", entryFileNames: "[name].mjs" });
  const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--test", "--test-concurrency=2", "--test-timeout=900000", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
