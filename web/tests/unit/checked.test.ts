import assert from "node:assert/strict";
import { test } from "node:test";
import type { Counts } from "../../src/api/types";
import { isChecked } from "../../src/pages/work/rows";
import { colourOf } from "../../src/parts/StatusGlyph";

const verified = { state: "done", verified: true } as const;
const claimed = { state: "done", verified: false } as const;
const ready = { state: "ready", verified: false } as const;
const counted = (done: number, verified: number) => ({ done, verified }) as Counts;

test("green is what cleo itself checked, and what is only said to be done is grey", () => {
  assert.deepEqual([verified, claimed, ready].map(colourOf), ["var(--green9)", "var(--n9)", "var(--n12)"]);
  assert.equal(colourOf({ state: "waiting", verified: false }), "var(--n7)");
});

test("a column is checked where all of its tasks are, also those that are not listed", () => {
  assert.equal(isChecked([verified, ready], undefined), true);
  assert.equal(isChecked([verified, claimed], undefined), false);
  assert.equal(isChecked([ready], undefined), false);
  assert.equal(isChecked([verified], counted(2, 1)), false);
  assert.equal(isChecked([verified], counted(2, 2)), true);
});
