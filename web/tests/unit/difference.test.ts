import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, underEntry } from "../../src/pages/work/tabs/PromptTab";

test("lines that differ are shown with three around them", () => {
  const compared = (before: string, after: string) => compare(before, after).map((hunk) => hunk.join("|"));
  assert.deepEqual(compared("a\nb\nc", "a\nb\nc"), []);
  assert.deepEqual(compared("a\nb\nc", "a\nx\nc"), ["  a|- b|+ x|  c"]);
  assert.deepEqual(compared("a\nb\nc\nd", "b\nc\ne\nd"), ["- a|  b|  c|+ e|  d"]);
  assert.deepEqual(compared("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9"), ["  2|  3|  4|- 5|+ x|  6|  7|  8"]);
  assert.deepEqual(compared("a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny"), ["- a|+ x|  1|  2|  3", "  5|  6|  7|- b|+ y"]);
});

test("texts that have too little in common are shown whole", () => {
  const [before, after] = ["a\n".repeat(2500), "b\n".repeat(2500)];
  const lines = compare(before, after).flat();
  assert.equal(lines.filter((line) => line === "- a").length, 2500);
  assert.equal(lines.filter((line) => line === "+ b").length, 2500);
});

test("a prompt that names an entry of its own is compared as if it named the same", () => {
  const entries = ["login-2026-01-26", "login-2026-01-26-2"];
  const sent = "append login-2026-01-26-2 to the manifest";
  assert.deepEqual(underEntry(sent, entries, "login-2026-01-26-3"), { text: "append login-2026-01-26-3 to the manifest", named: "login-2026-01-26-2" });
  assert.deepEqual(underEntry(sent, entries, "login-2026-01-26-2"), { text: sent, named: null });
  assert.deepEqual(underEntry("nothing", entries, "login-2026-01-26-3"), { text: "nothing", named: null });
});
