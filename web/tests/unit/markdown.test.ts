import assert from "node:assert/strict";
import { test } from "node:test";
import { inline, read, safeHref, type Inline } from "../../src/agents/markdown";

test("blocks are read", () => {
  const kinds = read("# Title\n\nText\n\n- one\n- two\n\n1. first\n\n> said\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---").map((block) => block.kind);
  assert.deepEqual(kinds, ["heading", "paragraph", "list", "list", "quote", "code", "table", "rule"]);
});

test("markup of HTML stays text", () => {
  const hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)>";
  assert.deepEqual(inline(hostile), [{ kind: "text", text: hostile }]);
});

test("pictures become words, and nothing is fetched for them", () => {
  assert.deepEqual(inline("a ![map](https://evil.example/x.png) b"), [{ kind: "text", text: "a (picture: map) b" }]);
});

test("links lead to the web and to mail, and nowhere else", () => {
  for (const href of ["https://example.org/a?b=c", "http://a.b", "mailto:a@b.c"]) assert.equal(safeHref(href), href);
  for (const href of ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "//evil.example", "/work", "https://a b", "https://a\u0000b", "vbscript:x"]) assert.equal(safeHref(href), null);
  assert.deepEqual(inline("[x](javascript:alert(1))").filter((one) => one.kind === "link"), []);
});

test("inline marks are read, and open ones stay text", () => {
  const kinds = (text: string) => inline(text).map((one: Inline) => one.kind);
  assert.deepEqual(kinds("**b** *i* `c` ~~d~~ [l](https://x.y)"), ["strong", "text", "em", "text", "code", "text", "del", "text", "link"]);
  assert.deepEqual(kinds("2 * 3 * 4 and snake_case_name"), ["text"]);
  assert.deepEqual(kinds("**never closed"), ["text"]);
});

test("code keeps what looks like markup", () => {
  const [block] = read("```\n**not bold** <b>\n```");
  assert.deepEqual(block, { kind: "code", text: "**not bold** <b>", language: "" });
});

test("what is open at the end ends there", () => {
  assert.deepEqual(read("```\nstill coming"), [{ kind: "code", text: "still coming", language: "" }]);
});

test("every text is read to its end", () => {
  for (const text of ["-", "- ", "1.", ">", "> > >", "|", "| |\n|-|", "#", "##", "```", "\n\n", "-\n\n  -\n\n\n    - x", "a\n- b\nc\n\nd", "* * *", "  - x\n- y", "[](", "![](", "**", "__", "`", "a  \nb"]) {
    assert.ok(Array.isArray(read(text)), text);
  }
  for (const piece of ["> ", "- ", "* ", "1. ", "**", "[", "![", "`", "_", "|", "~~"]) assert.ok(read(piece.repeat(2000)).length > 0, piece);
});
