import { useId, useState } from "react";

import { absent, marks, notScored, parts, shown, verdict, type Names } from "./score";
import type { Agent, Candidate, Decision, NotScored } from "./types";
import "./score.css";

interface Props {
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
export function ScoreView({ message, decision, agents, left = [], children }: Props) {
  const [picked, setPicked] = useState<string | null>(null);
  const { rows, more, moreAt } = shown(decision);
  const looked = rows.find((one) => one.id === (picked ?? decision.agent)) ?? rows[0];
  const names: Names = (id) => agents.find((one) => one.id === id)?.name ?? id;
  const sentences = [absent(decision), verdict(decision, names), notScored(left)];
  return (
    <div className="score">
      <MarkedMessage message={message} candidate={looked} />
      <Legend />
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

/** The message; what counts for the candidate is marked. */
export function MarkedMessage(props: { message: string; candidate: Candidate | undefined }) {
  return (
    <p className="score-message" tabIndex={0} role="group" aria-label="Message">
      {marks(props.message, props.candidate).map((mark, at) =>
        mark.kind === "none" ? (
          <span key={at} className="muted">
            {mark.text}
          </span>
        ) : (
          <mark key={at} className={mark.kind}>
            {mark.text}
          </mark>
        ),
      )}
    </p>
  );
}

function Legend() {
  return (
    <p className="score-legend small muted" aria-hidden="true">
      <span>
        <i className="base" />
        word found in the profile, 1 each
      </span>
      <span>
        <i className="tag" />
        exact tag, 2 each
      </span>
    </p>
  );
}

interface RowProps {
  one: Candidate;
  name: string;
  most: number;
  isWinner: boolean;
  isLooked: boolean;
  onLook: () => void;
}

function CandidateRow({ one, name, most, isWinner, isLooked, onLook }: RowProps) {
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
