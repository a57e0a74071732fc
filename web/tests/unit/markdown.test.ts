import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Markdown, safeHref } from "../../src/agents/Message";

/** The HTML of a text, without the element around it. */
function html(text: string): string {
  return /^<div class="markdown">([\s\S]*)<\/div>$/.exec(renderToStaticMarkup(createElement(Markdown, { text })))?.[1] ?? "";
}

function tags(text: string): string[] {
  return [...html(text).matchAll(/<(\w+)/g)].map(([, tag]) => tag ?? "");
}

test("blocks are laid out, and the headings of a text are none of the page", () => {
  const found = tags("# Title\n\nText\n\n- one\n- two\n\n1. first\n\n> said\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---");
  assert.deepEqual(found, ["p", "p", "ul", "li", "li", "ol", "li", "blockquote", "p", "pre", "code", "div", "table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "hr"]);
  assert.equal(html("# Title"), '<p class="markdown-heading">Title</p>');
});

test("markup of HTML stays text", () => {
  assert.equal(html("<script>alert(1)</script> <img src=x onerror=alert(1)>"), "&lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x onerror=alert(1)&gt;");
  for (const text of ["<div onclick=x>\n\ny\n\n</div>", "a <b>c</b> <!-- d -->", "<svg/onload=alert(1)>", "<iframe src=javascript:alert(1)>", "<style>*{display:none}</style>", "`<b>`"]) {
    assert.deepEqual(
      tags(text).filter((tag) => tag !== "p" && tag !== "code"),
      [],
      text,
    );
  }
});

test("pictures become words, and nothing is fetched for them", () => {
  assert.equal(html("a ![map](https://evil.example/x.png) b ![](//evil.example)"), "<p>a (picture: map) b (picture)</p>");
});

test("links lead to the web and to mail, and nowhere else", () => {
  for (const href of ["https://example.org/a?b=c", "http://a.b", "mailto:a@b.c"]) assert.equal(safeHref(href), href);
  for (const href of ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "//evil.example", "/work", "https://a b", "https://a\u0000b", "vbscript:x"]) assert.equal(safeHref(href), null);
  for (const text of [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "<javascript:alert(1)>",
    "[x](/work)",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "[x](data:text/html,y)",
    "x[^1]\n\n[^1]: note",
  ])
    assert.ok(!tags(text).includes("a") && !html(text).includes("href"), text);
  assert.equal(html("[x](https://a.b)"), '<p><a class="link" href="https://a.b" target="_blank" rel="noopener noreferrer nofollow">x</a></p>');
  assert.deepEqual(tags("https://a.b and <https://a.b>"), ["p", "a", "a"]);
});

test("inline marks are read, and open ones stay text", () => {
  assert.deepEqual(tags("**b** *i* `c` ~~d~~ [l](https://x.y)"), ["p", "strong", "em", "code", "del", "a"]);
  for (const text of ["2 * 3 * 4 and snake_case_name", "**never closed", "[ ] open"]) assert.equal(html(text), `<p>${text}</p>`);
  assert.deepEqual(tags("- [ ] open\n- [x] done"), ["ul", "li", "li"]);
});

test("code keeps what looks like markup, and what is open at the end ends there", () => {
  assert.equal(html("```\n**not bold** <b>\n```"), '<pre class="code" tabindex="0"><code>**not bold** &lt;b&gt;\n</code></pre>');
  assert.equal(html("```\nstill coming"), '<pre class="code" tabindex="0"><code>still coming\n</code></pre>');
});

test("every text is read to its end, soon", () => {
  for (const text of [
    "-",
    "- ",
    "1.",
    ">",
    "> > >",
    "|",
    "| |\n|-|",
    "#",
    "##",
    "```",
    "\n\n",
    "-\n\n  -\n\n\n    - x",
    "a\n- b\nc\n\nd",
    "* * *",
    "  - x\n- y",
    "[](",
    "![](",
    "**",
    "__",
    "`",
    "a  \nb",
  ])
    html(text);
  for (const piece of ["> ", "- ", "* ", "1. ", "**", "[", "![", "`", "_", "|", "~~", "a*", "*a **a ", "[a](", "]", "[^a]: ", "`a``", "[a][", "> a\n", "\\"]) {
    assert.ok(html(piece.repeat(20_000)).length > 0, piece);
  }
});
