// What differs between two texts, line by line. Pure.

export interface Change {
  kind: "same" | "gone" | "new";
  lines: string[];
}

/** Most pairs of lines that are compared; beyond that everything between the first and the last difference counts as changed. */
const PAIRS_MAX = 4_000_000;

/** The way from one text to another, in as few lines as there can be. */
export function difference(before: string, after: string): Change[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joined([{ kind: "same", lines: a.slice(0, start) }, ...middle, { kind: "same", lines: a.slice(a.length - end) }]);
}

function between(a: string[], b: string[]): Change[] {
  if (a.length * b.length > PAIRS_MAX)
    return [
      { kind: "gone", lines: a },
      { kind: "new", lines: b },
    ];
  const width = b.length + 1;
  // How many lines the rests from here on have in common at most.
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      changes.push({ kind: "same", lines: [a[i] ?? ""] });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) changes.push({ kind: "gone", lines: [a[i++] ?? ""] });
    else changes.push({ kind: "new", lines: [b[j++] ?? ""] });
  }
  return changes;
}

function joined(changes: Change[]): Change[] {
  const all: Change[] = [];
  for (const change of changes) {
    const last = all.at(-1);
    if (change.lines.length === 0) continue;
    if (last?.kind === change.kind) last.lines.push(...change.lines);
    else all.push({ kind: change.kind, lines: [...change.lines] });
  }
  return all;
}

/**
 * A prompt as it would have read with another entry of the manifest, and the entry that it named: each prompt
 * gets an entry of its own, which is no change of the prompt.
 */
export function underEntry(prompt: string, entries: readonly string[], entry: string): { text: string; named: string | null } {
  const named = entries.filter((one) => one !== entry && prompt.includes(one)).sort((a, b) => b.length - a.length)[0];
  if (named === undefined || prompt.includes(entry)) return { text: prompt, named: null };
  return { text: prompt.replaceAll(named, entry), named };
}
