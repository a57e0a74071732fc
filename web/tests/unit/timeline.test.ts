import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunTask } from "../../src/api/types";
import { place, ticks, whole, within, zoomed, segmentsOf } from "../../src/pages/runs/timeline/scale";

const start = Date.parse("2026-11-22T12:00:00Z");
const at = (s: number) => new Date(start + s * 1000).toISOString();

test("ticks are at round times and never crowd", () => {
  const range = whole(401_000, true);
  const list = ticks(range, 800);
  assert.deepEqual(list.slice(0, 3), [0, 60_000, 120_000]);
  for (const [from, to] of [
    [0, 100],
    [0, 5_000],
    [180_000, 401_000],
    [0, 86_400_000],
  ] as const) {
    const places = ticks({ from, to }, 800).map((one) => (place(one, { from, to }) * 800) / 100);
    for (const [i, x] of places.entries()) if (i > 0) assert.ok(x - (places[i - 1] ?? 0) >= 71.9, `${from} to ${to}: ${places}`);
  }
});

test("the end can always be reached, and zooming stays inside", () => {
  const all = whole(401_000, false);
  assert.ok(all.to >= 401_000);
  let range = all;
  for (let i = 0; i < 40; i++) range = zoomed(range, 0.5, all, 400_900);
  assert.ok(range.to <= all.to && range.from >= 0 && range.to - range.from >= 20);
  assert.ok(range.from <= 400_900 && range.to >= 400_900);
  for (let i = 0; i < 60; i++) range = zoomed(range, 2, all);
  assert.deepEqual(range, all);
  assert.deepEqual(within({ from: -50, to: 50 }, all), { from: 0, to: 100 });
});

test("one bar an attempt, its verification behind it", () => {
  const task = {
    readyAt: at(0),
    endedAt: null,
    history: [
      attempt(1, { startedAt: at(2), agentEndedAt: at(88), endedAt: at(88), state: "failed" }),
      attempt(2, { startedAt: at(92), agentEndedAt: at(170), endedAt: at(178), state: "failed", violations: ["no entry"] }),
      attempt(3, { startedAt: at(180), state: "verifying", agentEndedAt: at(300) }),
    ],
  } as unknown as RunTask;
  const kinds = segmentsOf(task, start, 400_000).map((one) => [one.kind, one.from / 1000, one.to / 1000]);
  assert.deepEqual(kinds, [
    ["waiting", 0, 2],
    ["failed", 2, 88],
    ["ended", 92, 170],
    ["refused", 170, 178],
    ["ended", 180, 300],
    ["checking", 300, 400],
  ]);
});

test("an attempt that somebody ended is no failure, also where it was being checked", () => {
  const stopped = { state: "cancelled", outcome: "cancelled", agentEndedAt: at(9), endedAt: at(10) };
  const task = { readyAt: null, endedAt: at(10), history: [attempt(1, stopped), attempt(2, { ...stopped, violations: ["no entry"] })] } as unknown as RunTask;
  assert.deepEqual(
    segmentsOf(task, start, 10_000).map((one) => one.kind),
    ["cancelled", "cancelled"],
  );
});

function attempt(n: number, fields: object) {
  return { attempt: n, startedAt: at(0), agentEndedAt: null, endedAt: null, violations: [], ...fields };
}
