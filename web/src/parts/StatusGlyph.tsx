// Shape first, colour second; the same glyph everywhere, always with a name.
import type { ReactNode } from "react";
import { type Row, GATE_NAMES } from "../api/types";

const line = { fill: "none", strokeWidth: 1.5, strokeLinecap: "round", strokeLinejoin: "round" } as const;
const inverse = { ...line, stroke: "var(--on-solid)", strokeWidth: 1.7 };

function ticked(fill: string) {
  return (
    <>
      <circle cx="8" cy="8" r="6.5" fill={fill} />
      <path d="M5 8.2l2.1 2.1L11 6" {...inverse} />
    </>
  );
}

/** A ring with something in it: it is not going to move by itself. */
function ringed(path: string) {
  return <path d={`M8 2.3a5.7 5.7 0 1 0 0 11.4a5.7 5.7 0 1 0 0-11.4${path}`} {...line} stroke="var(--n9)" />;
}

const SHAPES: Record<State, ReactNode> = {
  waiting: <circle cx="8" cy="8" r="5.7" fill="none" stroke="var(--n9)" strokeWidth="1.5" strokeDasharray="1.9 2.57" />,
  ready: <circle cx="8" cy="8" r="5.6" fill="none" stroke="var(--n12)" strokeWidth="1.9" />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.6" fill="none" stroke="var(--lake6)" strokeWidth="2" />
      <path className="turning" d="M8 2.4a5.6 5.6 0 1 1-5.6 5.6" {...line} stroke="var(--lake9)" strokeWidth="2" />
    </>
  ),
  verifying: (
    <>
      <circle cx="8" cy="8" r="5.7" {...line} stroke="var(--lake9)" />
      <path d="M5.3 8.2l1.9 1.9 3.5-3.9" {...line} stroke="var(--lake9)" />
    </>
  ),
  done: ticked("var(--green9)"),
  failed: (
    <>
      <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="var(--red9)" />
      <path d="M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" {...inverse} />
    </>
  ),
  needsYou: (
    <>
      <path d="M8 1.2l6.8 6.8L8 14.8 1.2 8z" fill="var(--amber9)" />
      <path d="M8 5v3.6M8 10.9v.1" {...inverse} />
    </>
  ),
  review: (
    <>
      <circle cx="8" cy="8" r="5.7" {...line} stroke="var(--amber9)" />
      <path d="M8 2.3a5.7 5.7 0 0 1 0 11.4z" fill="var(--amber9)" />
    </>
  ),
  paused: ringed("M6.5 6v4M9.5 6v4"),
  skipped: ringed("M5.5 8h5"),
  cancelled: ringed("M5.6 10.4l4.8-4.8"),
};

/**
 * Give `label=""` where the word stands beside it as text. What is done but was not checked by cleo
 * is grey: give `verified={false}`. Only an agent at work moves: give `still` for what a person has started.
 */
export function StatusGlyph({ state, label, verified = true, still = false }: { state: State; label?: string; verified?: boolean; still?: boolean }) {
  const claimed = state === "done" && !verified;
  const name = label ?? (claimed ? "Done, not verified" : STATE_WORDS[state]);
  const named = name === "" ? { "aria-hidden": true } : { role: "img", "aria-label": name };
  return (
    <svg className={still ? "glyph still" : "glyph"} viewBox="0 0 16 16" {...named}>
      {name !== "" && <title>{name}</title>}
      {claimed ? ticked("var(--n9)") : SHAPES[state]}
    </svg>
  );
}

/** What a task, a step or a run is doing, in the words of the server. */
export type State = Row["state"];

export const STATE_WORDS: Record<State, string> = {
  waiting: "Waiting",
  ready: "Ready",
  running: "In progress",
  verifying: "Verifying",
  done: "Done",
  failed: "Failed",
  needsYou: "Needs you",
  review: "In review",
  paused: "Paused",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export const STATES = Object.keys(STATE_WORDS) as State[];

/** The state that another part of cleo calls by another word. */
export function stateOf(word: string): State {
  if (word in STATE_WORDS) return word as State;
  return OTHER[word] ?? "waiting";
}

const OTHER: Record<string, State> = {
  pending: "waiting",
  todo: "ready",
  doing: "running",
  active: "running",
  completed: "done",
  passed: "done",
  unanswered: "skipped",
  blocked: "needsYou",
  interrupted: "paused",
};

const COLOURS: Partial<Record<State, string>> = {
  done: "var(--green9)",
  running: "var(--lake9)",
  verifying: "var(--lake9)",
  failed: "var(--red9)",
  needsYou: "var(--amber9)",
  review: "var(--amber9)",
  ready: "var(--n12)",
};

/** Green is only what cleo itself checked. */
export function colourOf({ state, verified }: Pick<Row, "state" | "verified">): string {
  return state === "done" && !verified ? "var(--n9)" : (COLOURS[state] ?? "var(--n7)");
}

export type GateState = NonNullable<Row["gates"]>[number];

const LOOKS: Record<string, string> = { optional: "free", passed: "passed", forced: "passed", failed: "failed" };

/** Six segments: full = passed, full with a cut = failed, outline = open, low = not required. */
export function GateMeter({ gates }: { gates: readonly string[] }) {
  const required = gates.filter((gate) => gate !== "optional");
  const passed = required.filter((gate) => gate === "passed" || gate === "forced").length;
  const name = `Gates: ${passed} of ${required.length} required passed`;
  return (
    <span className="gates" role="img" aria-label={name} title={name}>
      {gates.map((gate, i) => (
        <i key={GATE_NAMES[i] ?? i} className={LOOKS[gate] ?? ""} />
      ))}
    </span>
  );
}
