import assert from "node:assert/strict";
import { test } from "node:test";
import { kinOf } from "../../src/pages/work/graph/kin";

const kind = (id: string) => (id.startsWith("S") ? ("stack" as const) : ("node" as const));
const line = (from: string, to: string) => ({ from, to, fromKind: kind(from), toKind: kind(to) });

test("the kin of a task are all that it waits for and all that waits for it, also in a circle", () => {
  const edges = [line("T1", "T2"), line("T2", "T3"), line("T3", "T4"), line("T1", "T5"), line("T6", "T3")];
  assert.deepEqual([...kinOf(edges, "T3")].sort(), ["T1", "T2", "T3", "T4", "T6"]);
  assert.deepEqual([...kinOf(edges, "T2")].sort(), ["T1", "T2", "T3", "T4"]);
  assert.deepEqual([...kinOf(edges, "T9")], ["T9"]);
  assert.deepEqual([...kinOf([line("T1", "T2"), line("T2", "T1")], "T1")].sort(), ["T1", "T2"]);
});

test("a stack is kin of a task, and what is tied to its other tasks is not", () => {
  const edges = [line("T1", "S"), line("S", "T4"), line("T1", "T2"), line("T2", "T3")];
  assert.deepEqual([...kinOf(edges, "T1")].sort(), ["S", "T1", "T2", "T3"]);
  assert.deepEqual([...kinOf(edges, "T4")].sort(), ["S", "T4"]);
});
