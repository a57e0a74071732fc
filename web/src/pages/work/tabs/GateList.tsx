import { GATE_NAMES, type Evidence, type GateName, type Gates } from "../../../api/work";
import { duration } from "../../../format/numbers";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import type { State } from "../../../parts/state";
import type { GateState } from "../../../parts/GateMeter";
import { Section } from "../../../parts/Facts";

const GLYPHS: Record<GateState, State> = { open: "waiting", optional: "skipped", passed: "done", forced: "done", failed: "failed" };
const NAMES: Record<GateState, string> = { open: "open", optional: "not required", passed: "passed", forced: "passed by force", failed: "failed" };

/** The six gates in their order, with what each was proven by. */
export function GateList({ gates }: { gates: Gates }) {
  const states = statesOf(gates);
  const required = states.filter((state) => state !== "optional").length;
  const passed = gates.required.filter((name) => gates.gates[name]?.passed === true).length;
  return (
    <Section
      title="Gates"
      aside={gates.states === null ? "none was tried" : required === 0 ? "none required" : `${passed} of ${required} required${gates.round > 0 ? `, round ${gates.round} of ${gates.roundsMax}` : ""}`}
    >
      <ul className="gate-list">
        {GATE_NAMES.map((name, i) => (
          <GateLine key={name} name={name} gates={gates} state={states[i] ?? "open"} />
        ))}
      </ul>
    </Section>
  );
}

export function statesOf(gates: Gates): GateState[] {
  return (gates.states as GateState[] | null) ?? GATE_NAMES.map((name) => (gates.required.includes(name) ? "open" : "optional"));
}

function GateLine({ name, gates, state }: { name: GateName; gates: Gates; state: GateState }) {
  const record = gates.gates[name];
  const evidence = record?.evidence[0];
  const stale = gates.stale.includes(name);
  return (
    <li>
      <StatusGlyph state={GLYPHS[state]} verified={state !== "forced"} label={NAMES[state]} />
      <span>{name}</span>
      <span className="mono muted ell" title={evidence ? inWords(evidence) : undefined}>
        {stale ? "files changed since" : evidence ? inWords(evidence) : state === "optional" ? "not required" : ""}
      </span>
      <span className={state === "failed" ? "mono bad" : "mono muted"}>{evidence?.kind === "command" ? resultOf(evidence) : ""}</span>
    </li>
  );
}

export function inWords(evidence: Evidence): string {
  switch (evidence.kind) {
    case "command":
      return evidence.command.join(" ");
    case "file":
      return evidence.path;
    case "commit":
      return evidence.revision || evidence.id;
    case "url":
      return evidence.url;
    case "note":
      return evidence.text;
    case "claim":
      return "said without evidence";
  }
}

export function resultOf(evidence: Extract<Evidence, { kind: "command" }>) {
  if (evidence.timedOut) return "timed out";
  const code = evidence.exitCode === null ? "ended by a signal" : `exit ${evidence.exitCode}`;
  return `${code}, ${duration(evidence.durationMs)}`;
}
