import assert from "node:assert/strict";
import { test } from "node:test";
import { sentence, told } from "../../src/parts/States";
import { eventWords } from "../../src/pages/runs/useLog";

test("a reason is a sentence, its code left out and its command apart", () => {
  assert.deepEqual(told("E_NOT_VERIFIED: T4 does not verify: no entry (`cleo verify output T4`)"), { words: "T4 does not verify: no entry", command: "cleo verify output T4" });
  assert.deepEqual(told("tests failed (3 of 41)"), { words: "tests failed (3 of 41)", command: null });
});

test("what the server puts between backticks is quoted", () => {
  assert.equal(sentence("the agent `beekeeper` needs a prompt"), "The agent “beekeeper” needs a prompt.");
  assert.equal(sentence("a ` alone stays"), "A ` alone stays.");
  assert.equal(sentence("no_agents: no worker is registered"), "No agents: no worker is registered.");
  assert.equal(sentence("timeout: no_answer: none came"), "Timeout: no_answer: none came.");
});

test("lines of the record are read as words", () => {
  const rows: [string, string][] = [
    ['agent.ended T4 {"durationMs":47,"exitCode":0,"message":"done","outcome":"ok"}', "agent ended: 47 ms, exit code 0, outcome ok"],
    ['agent.started T4 {"processStartTime":"39","group":7982}', "agent started"],
    ['task.verification_failed T4 {"violations":["E_X: no entry"]}', "task verification failed: violations no entry"],
    ["task.completed T4", "task completed"],
    ['Reading the task, {"a":1', 'Reading the task, {"a":1'],
  ];
  for (const [text, words] of rows) assert.equal(eventWords(text), words);
});
