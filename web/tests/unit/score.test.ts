import assert from "node:assert/strict";
import { test } from "node:test";
import { absent, marks, normalize, notScored, parts, shown, verdict } from "../../src/agents/ScoreView";
import type { Candidate, Decision } from "../../src/api/types";

function candidate(id: string, terms: string[], tags: string[] = []): Candidate {
  const [base, tagBoost] = [terms.length, 2 * tags.length];
  return { id, base, tagBoost, score: base + tagBoost, matchedTerms: terms, matchedTags: tags };
}

function decision(change: Partial<Decision>): Decision {
  return { agent: "lore", decided: "matched", score: 7, reason: "Best match with score 7", margin: 1, runnerUp: { id: "toby", score: 6 }, terms: ["x"], total: 2, ...change };
}

const name = (id: string) => id.toUpperCase();

test("words are compared as the server compares them", () => {
  for (const [text, expected] of [
    ["DISEÑO", "diseno"],
    ["Évaluation", "evaluation"],
    ["İ", "i"],
    ["लड़की", "लड\u093cकी"],
    ["バ", "ハ\u3099"],
  ] as const)
    assert.equal(normalize(text), expected);
});

test("a message keeps every character, and tags are marked as they stand in a row", () => {
  const message = "Explain the Second War in Warcraft.";
  const found = marks(message, candidate("lore", ["second", "war", "warcraft"], ["warcraft", "second war"]));
  assert.equal(found.map((mark) => mark.text).join(""), message);
  const tags = found.filter((mark) => mark.kind === "tag").map((mark) => mark.text);
  assert.deepEqual(tags, ["Second War", "Warcraft"]);
});

test("a word that is no tag is marked as a word, also with accents and beside markup", () => {
  const found = marks("<b>Diseño</b> y más", candidate("a", ["diseno"]));
  assert.deepEqual(
    found.filter((mark) => mark.kind !== "none"),
    [{ text: "Diseño", kind: "term" }],
  );
  assert.equal(found.map((mark) => mark.text).join(""), "<b>Diseño</b> y más");
});

test("a word is marked with its signs, and no other word is", () => {
  const found = marks("लड़का, \u093cलड़की", candidate("girl", ["लड\u093cकी"]));
  assert.deepEqual(
    found.filter((mark) => mark.kind !== "none"),
    [{ text: "लड\u093cकी", kind: "term" }],
  );
});

test("a message without a candidate is one stretch", () => {
  assert.deepEqual(marks("zzzz qqqq", undefined), [{ text: "zzzz qqqq", kind: "none" }]);
  assert.deepEqual(marks("", undefined), []);
});

test("the parts of each row that is shown add up to its total", () => {
  const rows = [candidate("lore", ["second", "war", "warcraft"], ["warcraft", "second war"]), candidate("toby", ["second", "war"], ["war", "second"]), candidate("ami", [])];
  for (const row of shown(decision({ candidates: rows, total: 3 })).rows) assert.equal(row.base + row.tagBoost, row.score);
});

test("parts are told in words", () => {
  assert.equal(parts(candidate("lore", ["second", "war", "warcraft"], ["second war", "warcraft"])), "“second war” +2, “warcraft” +2, words 3");
  assert.equal(parts(candidate("ami", [])), "nothing matched");
});

test("of many candidates those that lead are shown, and the others are counted", () => {
  const many = [candidate("a", ["one", "two", "three"]), candidate("b", ["one"]), ...Array.from({ length: 31 }, (_, at) => candidate(`z${at}`, []))];
  const { rows, more, moreAt } = shown(decision({ candidates: many, total: 33 }));
  assert.deepEqual(
    rows.map((row) => row.id),
    ["a", "b"],
  );
  assert.equal(`${more} more ${moreAt}`, "31 more with 0");
});

test("one sentence says who won, by how much, and why nobody did", () => {
  for (const [change, expected] of [
    [{}, "LORE wins 7 to 6."],
    [{ runnerUp: null }, "LORE wins 7 to 0."],
    [
      {
        score: 6,
        runnerUp: { id: "toby", score: 6 },
        candidates: [
          { ...candidate("lore", []), score: 6 },
          { ...candidate("toby", []), score: 6 },
        ],
      },
      "LORE and TOBY are equal at 6; LORE is listed first.",
    ],
    [{ decided: "requested" }, "You chose LORE. The score did not decide."],
    [{ decided: "finalize", agent: "finalize", score: 0 }, "Nothing scored above 0, so finalize answers."],
    [{ decided: "finalize", agent: "finalize", terms: [] }, "The message has no word of three characters or more, so finalize answers."],
  ] as [Partial<Decision>, string][])
    assert.equal(verdict(decision(change), name), expected);
});

test("who was asked for and who was not scored is said with the reason", () => {
  assert.equal(absent(decision({ reason: "Best match with score 7; the requested agent `x` was not available (paused)" })), "You chose x, which was not available (paused).");
  assert.equal(absent(decision({})), null);
  const paused = { id: "b", name: "Billing", why: "paused" as const };
  assert.equal(notScored([{ id: "s", name: "S", why: "supervisor" }]), "");
  assert.equal(notScored([paused]), "Billing is paused and was not scored.");
  assert.equal(notScored([paused, { id: "c", name: "Old", why: "archived" }]), "Not scored: Billing (paused), Old (archived).");
});
