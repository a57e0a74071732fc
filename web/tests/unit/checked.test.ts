import assert from "node:assert/strict";
import { test } from "node:test";
import { colourOf } from "../../src/parts/StatusGlyph";

const verified = { state: "done", verified: true } as const;
const claimed = { state: "done", verified: false } as const;
const ready = { state: "ready", verified: false } as const;

test("green is what cleo itself checked, and what is only said to be done is grey", () => {
  assert.deepEqual([verified, claimed, ready].map(colourOf), ["var(--green9)", "var(--n9)", "var(--n12)"]);
  assert.equal(colourOf({ state: "waiting", verified: false }), "var(--n7)");
});
