/** Reads the part of Markdown that agents write. The result is a tree of plain values: no HTML gets
 * through, pictures become words, and links lead to web and mail addresses only. */

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "del"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph" | "heading"; children: Inline[] }
  | { kind: "code"; text: string; language: string }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

/** Longest text that is read as Markdown, in characters; more is shown as it is. */
const LONGEST = 200_000;
/** Most levels of quotes and lists in each other. */
const DEEPEST = 6;

export function read(text: string): Block[] {
  if (text.length > LONGEST) return [{ kind: "code", text, language: "" }];
  return blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

interface Reader {
  lines: string[];
  at: number;
  depth: number;
}

function blocks(lines: string[], depth: number): Block[] {
  const reader: Reader = { lines, at: 0, depth };
  const found: Block[] = [];
  while (reader.at < lines.length) {
    const block = next(reader);
    if (block) found.push(block);
  }
  return found;
}

function next(reader: Reader): Block | null {
  const line = reader.lines[reader.at] ?? "";
  if (line.trim() === "") {
    reader.at++;
    return null;
  }
  const fence = FENCE.exec(line);
  if (fence) return code(reader, fence[1] ?? "", fence[2] ?? "");
  const heading = HEADING.exec(line);
  if (heading) {
    reader.at++;
    return { kind: "heading", children: inline(heading[1] ?? "") };
  }
  if (RULE.test(line)) {
    reader.at++;
    return { kind: "rule" };
  }
  const isShallow = reader.depth < DEEPEST;
  if (isShallow && QUOTE.test(line)) return quote(reader);
  if (isShallow && ITEM.test(line)) return list(reader);
  if (line.includes("|") && DELIMITER.test(reader.lines[reader.at + 1] ?? "")) return table(reader);
  return paragraph(reader);
}

function code(reader: Reader, fence: string, language: string): Block {
  const kept: string[] = [];
  const end = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}\\s*$`);
  for (reader.at++; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    if (end.test(line)) {
      reader.at++;
      break;
    }
    kept.push(line);
  }
  return { kind: "code", text: kept.join("\n"), language };
}

function quote(reader: Reader): Block {
  const kept: string[] = [];
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    if (!QUOTE.test(line)) break;
    kept.push(line.replace(QUOTE, ""));
  }
  return { kind: "quote", children: blocks(kept, reader.depth + 1) };
}

function list(reader: Reader): Block {
  const first = ITEM.exec(reader.lines[reader.at] ?? "");
  const ordered = /\d/.test(first?.[2] ?? "");
  const indent = first?.[1]?.length ?? 0;
  const start = ordered ? Number.parseInt(first?.[2] ?? "1", 10) : 1;
  const items: Block[][] = [];
  let kept: string[] | null = null;
  const close = () => {
    if (kept) items.push(blocks(kept, reader.depth + 1));
  };
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    const item = ITEM.exec(line);
    if (item && (item[1]?.length ?? 0) <= indent + 1) {
      if (/\d/.test(item[2] ?? "") !== ordered || (item[1]?.length ?? 0) < indent) break;
      close();
      kept = [item[4] ?? ""];
    } else if (line.trim() === "") {
      const after = reader.lines[reader.at + 1] ?? "";
      if (!/^ {2,}\S/.test(after) && !ITEM.test(after)) break;
      kept?.push("");
    } else if (/^\s{2,}/.test(line) || item) {
      kept?.push(line.slice(Math.min(indent + 2, line.search(/\S/))));
    } else if (kept?.at(-1) !== "" && !FENCE.test(line) && !HEADING.test(line)) {
      kept?.push(line);
    } else {
      break;
    }
  }
  close();
  return { kind: "list", ordered, start, items };
}

function cells(line: string): Inline[][] {
  const bare = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return bare.split("|").map((cell) => inline(cell.trim()));
}

function table(reader: Reader): Block {
  const head = cells(reader.lines[reader.at] ?? "");
  const rows: Inline[][][] = [];
  for (reader.at += 2; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    if (!line.includes("|")) break;
    rows.push(cells(line).slice(0, head.length));
  }
  return { kind: "table", head, rows };
}

function paragraph(reader: Reader): Block {
  const kept: string[] = [];
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at] ?? "";
    const isOver = line.trim() === "" || FENCE.test(line) || HEADING.test(line);
    if (kept.length > 0 && (isOver || QUOTE.test(line) || ITEM.test(line) || RULE.test(line))) break;
    kept.push(line.trimStart());
  }
  return { kind: "paragraph", children: inline(kept.join("\n")) };
}

/** Where a link may lead: web and mail addresses. */
export function safeHref(href: string): string | null {
  return /^(?:https?:\/\/|mailto:)[^\s<>"'`\\\p{Cc}]+$/iu.test(href) ? href : null;
}

/** What stands in one place of a line; tried in this order. */
const INLINE =
  /(\\[\\`*_{}[\]()#+.!~|>-])|(`+)([^`]|[^`][\s\S]{0,4000}?[^`])\2(?!`)|!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})(?:\s+"[^"\n]{0,200}")?\)|\*\*(?=\S)([^*\n]{1,2000}(?:\*(?!\*)[^*\n]{0,2000}\*(?!\*)[^*\n]{0,2000}){0,20})\*\*|(?<![\p{L}\p{N}])__(?=\S)([^_\n]{1,2000})__(?![\p{L}\p{N}])|\*(?=[^\s*])([^*\n]{0,1999}[^\s*])\*|(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]{1,2000})_(?![\p{L}\p{N}_])|~~(?=\S)([^~\n]{1,2000})~~|(https?:\/\/[^\s<>"'`)\]]{1,2000})|( {2,}\n|\n)/u;

export function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  const put = (plain: string) => {
    const last = found.at(-1);
    if (plain === "") return;
    if (last?.kind === "text") last.text += plain;
    else found.push({ kind: "text", text: plain });
  };
  if (depth > DEEPEST) return [{ kind: "text", text }];
  let rest = text;
  for (;;) {
    const match = INLINE.exec(rest);
    if (!match) break;
    put(rest.slice(0, match.index));
    rest = rest.slice(match.index + match[0].length);
    const one = piece(match, depth);
    if (typeof one === "string") put(one);
    else found.push(one);
  }
  put(rest);
  return found;
}

function piece(match: RegExpExecArray, depth: number): Inline | string {
  const [whole, escaped, , code, picture, label, href, bold, under, em, emUnder, gone, bare, end] = match;
  if (escaped !== undefined) return escaped.slice(1);
  if (code !== undefined) return { kind: "code", text: code };
  if (picture !== undefined) return picture === "" ? "(picture)" : `(picture: ${picture})`;
  if (label !== undefined) {
    const safe = safeHref(href ?? "");
    return safe ? { kind: "link", href: safe, children: inline(label, depth + 1) } : whole;
  }
  const strong = bold ?? under;
  if (strong !== undefined) return { kind: "strong", children: inline(strong, depth + 1) };
  const stressed = em ?? emUnder;
  if (stressed !== undefined) return { kind: "em", children: inline(stressed, depth + 1) };
  if (gone !== undefined) return { kind: "del", children: inline(gone, depth + 1) };
  if (bare !== undefined) return address(bare);
  return end === "\n" ? "\n" : { kind: "break" };
}

function address(bare: string): Inline | string {
  const safe = safeHref(bare);
  return safe ? { kind: "link", href: safe, children: [{ kind: "text", text: bare }] } : bare;
}
