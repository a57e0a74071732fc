import assert from "node:assert/strict";
import { test } from "node:test";
import { joined } from "../../src/agents/pieces";

test("pieces follow each other, and what is known already is passed over", () => {
  let answer = joined(undefined, { after: 0, text: "The " });
  answer = joined(answer, { after: 4, text: "war " });
  answer = joined(answer, { after: 0, text: "The war began" });
  answer = joined(answer, { after: 8, text: "began" });
  assert.deepEqual(answer, { text: "The war began", ahead: [] });
});

test("what comes before its time waits for what was missed", () => {
  let answer = joined(undefined, { after: 8, text: "began " });
  answer = joined(answer, { after: 14, text: "late." });
  assert.equal(answer.text, "", "the middle of an answer is not its beginning");
  answer = joined(answer, { after: 0, text: "The war be" });
  assert.deepEqual(answer, { text: "The war began late.", ahead: [] });
});

test("a very long answer is cut, and then nothing waits", () => {
  const answer = joined({ text: "x".repeat(400_000), ahead: [] }, { after: 500_000, text: "y" });
  assert.equal(answer.text.length, 400_000);
  assert.deepEqual(answer.ahead, []);
});
