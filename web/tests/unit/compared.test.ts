import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunTask } from "../../src/api/types";
import { compared } from "../../src/pages/runs/RunCompare";

function step(taskId: string, state: RunTask["state"], durationMs: number | null, cost: number | null, tries = 1): RunTask {
  const history = Array.from({ length: tries }, () => ({}));
  return { taskId, title: `Do ${taskId}`, state, durationMs, cost, history, isEpic: false } as unknown as RunTask;
}

test("steps differ in what is shown of them: outcome, time, cost", () => {
  const one = [step("T1", "done", 14_200, 0.5), step("T2", "failed", 900, null, 2), step("T3", "skipped", null, null, 0), step("T4", "done", 1000, 1)];
  const other = [step("T1", "done", 14_230, 0.5), step("T2", "done", 900, null), step("T3", "skipped", null, null, 0), step("T5", "done", 10, 0)];
  const told = compared(one, other).map(({ id, differs }) => `${id} ${differs.join(" ")}`.trim());
  assert.deepEqual(told, ["T1", "T2 outcome", "T3", "T4 outcome time cost", "T5 outcome time cost"]);
});

test("what is not known is not shown as nothing", () => {
  const [one] = compared([step("T1", "done", null, null)], []);
  assert.deepEqual([one?.one?.time, one?.one?.cost, one?.other], ["unknown", "unknown", null]);
});
