import { useId, useState } from "react";
import type { Agent, Candidate, Decision, NotScored, Delegation, Routed } from "../api/types";
import { cut } from "../format";
import { copy } from "../parts/toasts";
import { questionOf } from "./agents";
import { TextButton } from "../parts/Button";
import { useResource } from "../api/resource";
import { Loaded } from "../parts/States";
import "./score.css";

interface ScoreViewProps {
  message: string;
  decision: Decision;
  /** All agents, for their names. */
  agents: readonly Pick<Agent, "id" | "name">[];
  left?: readonly NotScored[];
  /** Links after the sentence, such as Replay. */
  children?: React.ReactNode;
}

/** A decision of the router as a person reads it: the message with what counted in it, one row for
 * each candidate on one scale, and one sentence. */
export function ScoreView({ message, decision, agents, left = [], children }: ScoreViewProps) {
  const [picked, setPicked] = useState<string | null>(null);
  const { rows, more, moreAt } = shown(decision);
  const looked = rows.find((one) => one.id === (picked ?? decision.agent)) ?? rows[0];
  const names: Names = (id) => agents.find((one) => one.id === id)?.name ?? id;
  const sentences = [absent(decision), verdict(decision, names), notScored(left)];
  return (
    <div className="score">
      <p className="score-message" tabIndex={0} role="group" aria-label="Message">
        {marks(message, looked).map(({ kind, text }, at) => {
          const Element = kind === "none" ? "span" : "mark";
          return (
            <Element key={at} className={kind === "none" ? "muted" : kind}>
              {text}
            </Element>
          );
        })}
      </p>
      <p className="score-legend small muted" aria-hidden="true">
        <i className="base" /> word found in the profile, 1 each <i className="tag" /> exact tag, 2 each
      </p>
      <ul className="score-rows" aria-label="Candidates with their scores">
        {rows.map((one) => (
          <CandidateRow
            key={one.id}
            one={one}
            name={names(one.id)}
            most={rows[0]?.score ?? 0}
            isWinner={one.id === decision.agent}
            isLooked={rows.length > 1 && one.id === looked?.id}
            onLook={() => setPicked(one.id)}
          />
        ))}
      </ul>
      {more > 0 && <p className="small muted">{`${more} more ${moreAt}.`}</p>}
      <p className="small muted score-verdict">
        {sentences.filter(Boolean).join(" ")} {children}
      </p>
    </div>
  );
}

function CandidateRow({ one, name, most, isWinner, isLooked, onLook }: { one: Candidate; name: string; most: number; isWinner: boolean; isLooked: boolean; onLook: () => void }) {
  const about = useId();
  const width = (points: number) => `${(100 * points) / Math.max(most, 1)}%`;
  return (
    <li>
      <button type="button" className={isWinner ? "score-row winner" : "score-row"} aria-pressed={isLooked} aria-describedby={about} onClick={onLook}>
        <span className="ell">{name}</span>
        <span className="score-bar" aria-hidden="true">
          {one.base > 0 && <i className="base" style={{ width: width(one.base) }} />}
          {one.tagBoost > 0 && <i className="tag" style={{ width: width(one.tagBoost) }} />}
          {one.score === 0 && <i className="zero" />}
        </span>
        <span className="mono right">{one.score}</span>
        <span className="small muted score-parts" id={about}>
          {parts(one)}
        </span>
      </button>
    </li>
  );
}

interface ExplainedProps {
  delegation: Pick<Delegation, "to" | "score" | "reason">;
  message: string;
  requested?: string | undefined;
  agents: readonly Agent[];
}

/** Why a message went where it went: the receipt run again with the agents as they are, and whether
 * it comes to the same. */
export function Explained({ delegation, message, requested, agents }: ExplainedProps) {
  const answer = useResource<Routed>("/api/route", { body: questionOf({ message, agentId: requested }) });
  return (
    <Loaded of={answer} rows={4}>
      {(routed) => (
        <ScoreView message={message} decision={routed.route} agents={agents} left={routed.notScored}>
          <span>{compared(delegation, routed, agents)}</span>
          <TextButton onClick={answer.reload}>Replay</TextButton>
          <TextButton onClick={() => copy(JSON.stringify(routed.route, null, 2), "decision")}>Copy as JSON</TextButton>
        </ScoreView>
      )}
    </Loaded>
  );
}

function compared(then: ExplainedProps["delegation"], now: Routed, agents: readonly Agent[]): string {
  const name = (id: string) => agents.find((one) => one.id === id)?.name ?? id;
  if (now.route.agent === then.to && now.route.score === then.score) return "Replayed with the agents of now: same result.";
  const was = then.to === "finalize" ? "finalize answered" : `it went to ${name(then.to)} with ${then.score}`;
  return `When it ran, ${was}; the agents have changed since.`;
}

/** A stretch of the message and what it counts for. */
interface Mark {
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

function words(text: string): Word[] {
  const found: Word[] = [];
  for (const match of text.matchAll(/[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*/gu)) {
    const word = normalize(match[0]);
    if (word) found.push({ word, start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/** Marks the matches of a candidate in a message: whole tags, else single words. */
export function marks(message: string, candidate: Candidate | undefined): Mark[] {
  const all = words(message);
  const terms = new Set(candidate?.matchedTerms);
  const tags = (candidate?.matchedTags ?? []).map((tag) => words(tag).map(({ word }) => word)).sort((one, other) => other.length - one.length);
  const found: Mark[] = [];
  let from = 0;
  const put = (end: number, kind: Mark["kind"]) => {
    if (end > from) found.push({ text: message.slice(from, end), kind });
    from = end;
  };
  for (let at = 0; at < all.length; at++) {
    const tag = tags.find((parts) => parts.length > 0 && parts.every((part, offset) => all[at + offset]?.word === part));
    const first = all[at];
    if (!first || (!tag && !terms.has(first.word))) continue;
    put(first.start, "none");
    at += (tag?.length ?? 1) - 1;
    put(all[at]?.end ?? first.end, tag ? "tag" : "term");
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

type Names = (id: string) => string;

export function verdict(decision: Decision, name: Names): string {
  const winner = name(decision.agent);
  switch (decision.decided) {
    case "requested":
      return `You chose ${winner}. The score did not decide.`;
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

/** Says who was not scored, and why. Supervisors hand messages on and are never scored. */
export function notScored(all: readonly NotScored[]): string {
  const out = all.filter((one) => one.why !== "supervisor");
  const first = out[0];
  if (!first) return "";
  if (out.length === 1) return `${cut(first.name, 40)} is ${first.why} and was not scored.`;
  const named = out.slice(0, 4).map((one) => `${cut(one.name, 40)} (${one.why})`);
  const rest = out.length - named.length;
  return `Not scored: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}
