import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, cost, duration, offset, percent, plural, tokens, ago, visible } from "../../src/format";

test("durations have the unit that fits", () => {
  const rows: [number, string][] = [
    [0, "0.0 ms"],
    [0.31, "0.3 ms"],
    [4.25, "4.3 ms"],
    [240, "240 ms"],
    [14_200, "14.2 s"],
    [59_949, "59.9 s"],
    [60_000, "1m 0s"],
    [401_000, "6m 41s"],
    [3_600_000, "1h 0m"],
    [86_400_000 * 3 + 3_600_000 * 4, "3d 4h"],
  ];
  for (const [ms, words] of rows) assert.equal(duration(ms), words);
});

test("figures are short, and exact where they are small", () => {
  assert.equal(tokens(9_999), "9,999");
  assert.equal(tokens(412_345), "412k");
  assert.equal(tokens(1_250_000), "1.3M");
  assert.equal(cost(0), "$0.00");
  assert.equal(cost(0.0042), "$0.0042");
  assert.equal(cost(1.839), "$1.84");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(8_200), "8.2 kB");
  assert.equal(plural(1, "task"), "1 task");
  assert.equal(plural(0, "task"), "0 tasks");
});

test("a part of nothing is unknown", () => {
  assert.equal(percent(11, 23), "48 %");
  assert.equal(percent(0, 0), "unknown");
});

test("times since the start of a log", () => {
  assert.equal(offset(5_000), "0:05");
  assert.equal(offset(401_000), "6:41");
  assert.equal(offset(3_723_000), "1:02:03");
});

test("times are relative under a day", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  assert.equal(ago("2026-11-22T11:59:58Z", now), "now");
  assert.equal(ago("2026-11-22T11:59:20Z", now), "40 s ago");
  assert.equal(ago("2026-11-22T11:05:00Z", now), "55 min ago");
  assert.equal(ago("2026-11-22T02:00:00Z", now), "10 h ago");
  assert.equal(ago("2026-11-20T12:00:00Z", now), "20 Nov");
  assert.equal(ago("2026-11-22T12:30:00Z", now), "in 30 min");
  assert.equal(ago("nonsense", now), "unknown");
});

test("signs that change what is seen are written out", () => {
  assert.equal(visible("evil\u202etxt.exe"), "evil⟨U+202E⟩txt.exe");
});
