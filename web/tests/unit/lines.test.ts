import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../src/pages/review/lines";

test("lines of a diff have the numbers that they have in their files", () => {
  const lines = linesOf("@@ -7,3 +9,3 @@ fn main() {\n same\n-old\n+new\n+more\n\\ No newline at end of file\n");
  assert.deepEqual(
    lines.map(({ kind, number }) => `${kind} ${number}`),
    ["hunk ", "same 9", "del 8", "ins 10", "ins 11", "hunk "],
  );
  assert.deepEqual(linesOf(""), []);
});
