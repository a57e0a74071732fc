// The sizes of what a browser fetches, of the committed build.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const dist = join(root(), "dist");
const assets = join(dist, "assets");

test("the first load fits: shell, page of the work and what they need", () => {
  const first = closure(["index", "Work"]);
  assert.ok(kilobytes(first, ".js") <= 110, `${kilobytes(first, ".js")} kB of scripts`);
  assert.ok(kilobytes(first, ".css") <= 20, `${kilobytes(first, ".css")} kB of styles`);
});

test("graph and list are chunks of their own", () => {
  const first = new Set(closure(["index", "Work"]));
  for (const [view, most] of [
    ["GraphView", 75],
    ["List", 15],
  ] as const) {
    const more = closure([view]).filter((name) => !first.has(name));
    assert.ok(kilobytes(more, ".js") <= most, `${kilobytes(more, ".js")} kB for ${view}`);
  }
});

test("everything together fits", () => {
  const all = readdirSync(assets);
  assert.ok(kilobytes(all, ".js") + kilobytes(all, ".css") <= 400, `${kilobytes(all, ".js")} kB`);
  const fonts = all.filter((name) => name.endsWith(".woff2")).map((name) => readFileSync(join(assets, name)).length);
  assert.ok(fonts.reduce((a, b) => a + b, 0) <= 77_000, `fonts: ${fonts}`);
});

test("nothing comes from elsewhere, and no style or script stands in the page but the theme's", () => {
  const html = readFileSync(join(dist, "index.html"), "utf8");
  assert.equal([...html.matchAll(/<script(?![^>]*src)/g)].length, 1);
  assert.equal(/<style|style=|https?:\/\//.test(html), false);
});

/** Files that the named chunks import statically, and their styles. */
function closure(names: string[]): string[] {
  const all = readdirSync(assets);
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const queue = all.filter((file) => names.some((name) => (name === "index" ? html.includes(file) && file.startsWith("index-") : file.startsWith(`${name}-`))));
  const found = new Set<string>();
  while (queue.length > 0) {
    const file = queue.pop() as string;
    if (found.has(file)) continue;
    found.add(file);
    if (!file.endsWith(".js")) continue;
    const text = readFileSync(join(assets, file), "utf8");
    for (const [, next] of text.matchAll(/(?:^|[;}])\s*(?:import|export)(?:[^"'()]*?from)?["']\.\/([\w.-]+)["']/g)) if (next) queue.push(next);
  }
  return [...found];
}

function kilobytes(files: string[], end: string) {
  const sizes = files.filter((file) => file.endsWith(end)).map((file) => gzipSync(readFileSync(join(assets, file)), { level: 9 }).length);
  return Math.round(sizes.reduce((a, b) => a + b, 0) / 100) / 10;
}

function root() {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "vite.config.ts"))) folder = dirname(folder);
  return folder;
}
