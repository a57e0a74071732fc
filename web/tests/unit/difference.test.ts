import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, underEntry } from "../../src/pages/work/tabs/PromptTab";

function told(before: string, after: string) {
  const signs = { same: " ", gone: "-", new: "+" };
  return difference(before, after)
    .flatMap((change) => change.lines.map((line) => signs[change.kind] + line))
    .join("|");
}

test("what differs between two texts is told line by line", () => {
  assert.equal(told("a\nb\nc", "a\nb\nc"), " a| b| c");
  assert.equal(told("a\nb\nc", "a\nx\nc"), " a|-b|+x| c");
  assert.equal(told("a\nb\nc\nd", "b\nc\ne\nd"), "-a| b| c|+e| d");
  assert.equal(told("", "a"), "-|+a");
  assert.equal(told("a\na\na", "a\na"), " a| a|-a");
});

test("either text can be made of what is told, also of texts with nothing in common", () => {
  const words = (seed: number, n: number) => Array.from({ length: n }, (_, i) => String(((i + seed) * 7919 * seed) % 13)).join("\n");
  for (const [before, after] of [
    [words(1, 60), words(2, 50)],
    [words(3, 3000), words(5, 3000)],
    ["a\n".repeat(2500), "b\n".repeat(2500)],
  ] as const) {
    const changes = difference(before, after);
    const made = (without: string) =>
      changes
        .filter((change) => change.kind !== without)
        .flatMap((change) => change.lines)
        .join("\n");
    assert.equal(made("new"), before);
    assert.equal(made("gone"), after);
  }
});

test("a prompt that names an entry of its own is compared as if it named the same", () => {
  const entries = ["login-2026-01-26", "login-2026-01-26-2"];
  const sent = "append login-2026-01-26-2 to the manifest";
  assert.deepEqual(underEntry(sent, entries, "login-2026-01-26-3"), { text: "append login-2026-01-26-3 to the manifest", named: "login-2026-01-26-2" });
  assert.deepEqual(underEntry(sent, entries, "login-2026-01-26-2"), { text: sent, named: null });
  assert.deepEqual(underEntry("nothing", entries, "login-2026-01-26-3"), { text: "nothing", named: null });
});
