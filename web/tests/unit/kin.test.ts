import assert from "node:assert/strict";
import { test } from "node:test";
import { kinOf } from "../../src/pages/work/graph/kin";

test("the kin of a task are all that it waits for and all that waits for it, also in a circle", () => {
  const line = (from: string, to: string) => ({ from, to });
  const edges = [line("T1", "T2"), line("T2", "T3"), line("T3", "T4"), line("T1", "T5"), line("T6", "T3")];
  assert.deepEqual([...kinOf(edges, "T3")].sort(), ["T1", "T2", "T3", "T4", "T6"]);
  assert.deepEqual([...kinOf(edges, "T2")].sort(), ["T1", "T2", "T3", "T4"]);
  assert.deepEqual([...kinOf(edges, "T9")], ["T9"]);
  assert.deepEqual([...kinOf([line("T1", "T2"), line("T2", "T1")], "T1")].sort(), ["T1", "T2"]);
});
