import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunPage } from "../../src/api/types";
import { keptAnswer, planWords, sourceWords, stepsOf, tookOf, type Told } from "../../src/pages/ask/kept";

const STEPS = [
  { step_id: 0, agent: "notes", intent: "summary.create", input_source: "user_query" },
  { step_id: 1, agent: "dates", intent: "dates.find", input_source: "step:0.output.result" },
  { step_id: 2, agent: "mail", intent: "mail.send", input_source: "user_query" },
];
const TOLD: Told[] = [
  { type: "plan", ts: "2026-01-01T00:00:00Z", detail: { by: "planner", steps: STEPS, notes: [] } },
  { type: "dispatch", ts: "2026-01-01T00:00:01Z", detail: { stepId: "0" } },
  { type: "agentComplete", ts: "2026-01-01T00:00:03Z", detail: { stepId: "0", responseMessageId: "m2" } },
  { type: "error", ts: "2026-01-01T00:00:04Z", detail: { stepId: "1", type: "timeout", message: "no answer after 5 s" } },
];

function page(status: string, output: string | null, error: string | null = null): RunPage {
  const run = { status, output, title: "Find", durationMs: 4000, fault: error === null ? null : { task: null, message: error } };
  return {
    run,
    messages: [
      { id: "m1", type: "user", content: "Find dates" },
      { id: "m2", type: "agent", content: "Two dates" },
    ],
  } as unknown as RunPage;
}

test("what is kept of an answer is told in the form in which it was given", () => {
  const { query, reply, tookMs } = keptAnswer(page("completed", "Two dates."), TOLD);
  assert.deepEqual([query, reply.answer, reply.error, tookMs], ["Find dates", "Two dates.", null, 4000]);
  assert.deepEqual(
    reply.used_agents.map(({ name, status }) => `${name} ${status}`),
    ["notes success", "dates error", "mail stopped"],
  );
  assert.deepEqual(reply.intermediate_results["step_0"], { agent_name: "notes", status: "success", output: { result: "Two dates" } });
  assert.deepEqual(reply.intermediate_results["step_1"]?.["error"], { type: "timeout", message: "no answer after 5 s" });
});

test("an answer that is not there says why", () => {
  const live = keptAnswer(page("running", null), TOLD).reply;
  assert.match(live.answer, /^Not answered yet/);
  assert.equal(live.used_agents[2]?.status, "running");
  assert.match(keptAnswer(page("interrupted", null), TOLD).reply.answer, /^There is no answer/);
  assert.deepEqual(keptAnswer(page("failed", "Nothing.", "no_agents: no worker is registered"), []).reply.error, { type: "no_agents", message: "no worker is registered" });
  assert.deepEqual(keptAnswer(page("failed", null, "the disk is full"), []).reply.error, { type: "failed", message: "the disk is full" });
});

test("a plan says who made it, and each step what it works on and how long it took", () => {
  const plan = (by: string, notes: string[], steps: unknown[] = STEPS): Told[] => [{ type: "plan", ts: "", detail: { by, notes, steps } }];
  assert.equal(planWords(TOLD), "The planner chose who was asked.");
  assert.equal(planWords(plan("fallback", [])), "Fallback plan: no model is configured.");
  assert.equal(planWords(plan("fallback", ["the plan cannot be used"])), "Fallback plan: The plan cannot be used.");
  assert.equal(planWords(plan("fallback", [], [])), null);
  assert.equal(planWords([]), null);
  assert.deepEqual(stepsOf(TOLD).map(sourceWords), ["your query", "step 0", "your query"]);
  assert.deepEqual(
    [0, 1, 2].map((step) => tookOf(TOLD, step)),
    [2000, null, null],
  );
});
