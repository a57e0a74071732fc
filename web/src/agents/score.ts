/** From a decision of the router to what a person reads of it. Nothing is scored here: points come
 * from the server, and only the places of its words in the message are looked up. */

import type { Candidate, Decision, NotScored } from "./types";

/** A stretch of the message and what it counts for. */
export interface Mark {
  text: string;
  kind: "tag" | "term" | "none";
}

/** Lower case without accents, as the server compares words. The signs of other scripts stay. */
export function normalize(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/gu, "");
}

interface Word {
  word: string;
  start: number;
  end: number;
}

/** The words of a text with their places. */
function words(text: string): Word[] {
  const found: Word[] = [];
  for (const match of text.matchAll(/[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*/gu)) {
    const word = normalize(match[0]);
    if (word) found.push({ word, start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/** Marks what of a message speaks for a candidate: tags as they stand in a row, else single words. */
export function marks(message: string, candidate: Candidate | undefined): Mark[] {
  const all = words(message);
  const kinds = new Array<Mark["kind"]>(all.length).fill("none");
  const terms = new Set(candidate?.matchedTerms);
  all.forEach((one, at) => {
    if (terms.has(one.word)) kinds[at] = "term";
  });
  const ends = new Map<number, number>();
  for (const tag of candidate?.matchedTags ?? []) {
    const parts = words(tag).map((one) => one.word);
    for (let at = 0; parts.length > 0 && at + parts.length <= all.length; at++) {
      if (!parts.every((part, offset) => all[at + offset]?.word === part)) continue;
      ends.set(at, Math.max(ends.get(at) ?? 0, at + parts.length));
      kinds.fill("tag", at, at + parts.length);
    }
  }
  return stretches(message, all, kinds, ends);
}

function stretches(message: string, all: Word[], kinds: Mark["kind"][], ends: Map<number, number>): Mark[] {
  const found: Mark[] = [];
  let from = 0;
  const put = (end: number, kind: Mark["kind"]) => {
    if (end > from) found.push({ text: message.slice(from, end), kind });
    from = Math.max(from, end);
  };
  for (let at = 0; at < all.length; at++) {
    const one = all[at];
    const kind = kinds[at] ?? "none";
    if (!one || kind === "none" || one.end <= from) continue;
    put(one.start, "none");
    const last = all[(ends.get(at) ?? at + 1) - 1] ?? one;
    put(last.end, kind);
  }
  put(message.length, "none");
  return found;
}

/** What a candidate's points come from, in words. */
export function parts(candidate: Candidate): string {
  if (candidate.score === 0) return "nothing matched";
  const tags = candidate.matchedTags.map((tag) => `“${tag}” +2`);
  return [...tags, `words ${candidate.base}`].join(", ");
}

/** The candidates that are shown, and how many are not. With more than eight, those that lead and
 * those within two points of them. */
export function shown(decision: Decision): { rows: Candidate[]; more: number; moreAt: string } {
  const all = decision.candidates ?? [];
  const best = all[0]?.score ?? 0;
  const rows = all.length > 8 ? all.filter((one) => one.score > 0 && best - one.score <= 2).slice(0, 12) : all;
  const more = Math.max(decision.total, all.length) - rows.length;
  const isZero = all.slice(rows.length).every((one) => one.score === 0) && best > 0;
  return { rows, more, moreAt: isZero || rows.length === 0 ? "with 0" : "with fewer points" };
}

export type Names = (id: string) => string;

/** Says who won and by how much. */
export function verdict(decision: Decision, name: Names): string {
  const winner = name(decision.agent);
  switch (decision.decided) {
    case "requested":
      return `You chose ${winner}. The score did not decide.`;
    case "clarify":
      return decision.question ?? decision.reason;
    case "finalize":
      return decision.terms.length === 0 ? "The message has no word of three characters or more, so finalize answers." : "Nothing scored above 0, so finalize answers.";
    case "matched":
      return matched(decision, winner, name);
  }
}

function matched(decision: Decision, winner: string, name: Names): string {
  const equals = (decision.candidates ?? []).filter((one) => one.score === decision.score);
  const second = decision.runnerUp;
  if (!second || second.score < decision.score) return `${winner} wins ${decision.score} to ${second?.score ?? 0}.`;
  const others = equals.filter((one) => one.id !== decision.agent).map((one) => name(one.id));
  const named = others.length === 0 ? [name(second.id)] : others.slice(0, 3);
  const rest = others.length - named.length;
  const list = [winner, ...named, ...(rest > 0 ? [`${rest} more`] : [])];
  return `${list.slice(0, -1).join(", ")} and ${list.at(-1)} are equal at ${decision.score}; ${winner} is listed first.`;
}

/** Says which agent was asked for and could not be had, from the reason of the server. */
export function absent(decision: Decision): string | null {
  const found = /the requested agent `(.+)` was not available \((.+)\)$/u.exec(decision.reason);
  return found ? `You chose ${found[1]}, which was not available (${found[2]}).` : null;
}

/** Says who was not scored, and why. Supervisors hand messages on; nobody expects them to be scored. */
export function notScored(all: readonly NotScored[]): string {
  const out = all.filter((one) => one.why !== "supervisor");
  const first = out[0];
  if (!first) return "";
  if (out.length === 1) return `${short(first.name)} is ${first.why} and was not scored.`;
  const named = out.slice(0, 4).map((one) => `${short(one.name)} (${one.why})`);
  const rest = out.length - named.length;
  return `Not scored: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

/** A name that leaves room for others. */
function short(name: string): string {
  return [...name].length > 40 ? `${[...name].slice(0, 39).join("")}…` : name;
}
