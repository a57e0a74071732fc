import { GATE_NAMES, type Evidence, type GateRecord, type Gates, type GateName } from "../../../api/types";
import { Ago, Digest, duration } from "../../../format";
import { Empty } from "../../../parts/States";
import { StatusGlyph, type State, type GateState } from "../../../parts/StatusGlyph";
import { Section } from "../../../parts/Facts";
import { Code } from "../../../parts/Button";

/** Everything that was brought for the gates and the criteria, as it was recorded. */
export function EvidenceTab({ gates }: { gates: Gates }) {
  const records = GATE_NAMES.flatMap((name) => {
    const record = gates.gates[name];
    return record ? [{ name: name as string, record }] : [];
  });
  const criteria = gates.criteria.flatMap((one) => (one.record ? [{ name: `Criterion ${one.number}: ${one.text}`, record: one.record }] : []));
  const all = [...records, ...criteria];
  if (all.length === 0) return <Empty>Nothing was proven yet. A gate is passed with a command that cleo runs itself, with files, or with a commit.</Empty>;
  return (
    <>
      {all.map(({ name, record }) => (
        <Proven key={name} name={name} record={record} />
      ))}
      {gates.failures.map((one, i) => (
        <Proven key={`failure ${i}`} name={`${one.gate}, failed in round ${one.round}`} record={one.record} />
      ))}
    </>
  );
}

function Proven({ name, record }: { name: string; record: GateRecord }) {
  return (
    <div className="section">
      <h3>
        <StatusGlyph state={record.passed ? "done" : "failed"} verified={!record.forced} />
        <span className="text">{name}</span>
        <span className="aside">
          {record.agent ?? record.by}
          {record.forced ? ", by force" : ""}, <Ago at={record.at} />
        </span>
      </h3>
      {record.evidence.map((evidence, i) => (
        <One key={i} evidence={evidence} />
      ))}
    </div>
  );
}

function One({ evidence }: { evidence: Evidence }) {
  return (
    <div className="evidence">
      <div className="row">
        <span className="mono text grow">{inWords(evidence)}</span>
        {evidence.kind === "command" && <span className="mono muted">{resultOf(evidence)}</span>}
        {evidence.kind === "command" && <Digest value={evidence.outputDigest} />}
        {evidence.kind === "file" && <Digest value={evidence.digest} />}
      </div>
      {evidence.kind === "command" && evidence.lastLines.length > 0 && <Code>{evidence.lastLines.join("\n")}</Code>}
    </div>
  );
}

const GLYPHS: Record<GateState, State> = { open: "waiting", optional: "skipped", passed: "done", forced: "done", failed: "failed", stale: "needsYou" };
const NAMES: Record<GateState, string> = { open: "open", optional: "not required", passed: "passed", forced: "passed by force", failed: "failed", stale: "passed before files changed" };

/** The six gates in their order, with what each was proven by. */
export function GateList({ gates }: { gates: Gates }) {
  const states = statesOf(gates);
  const { required, passed } = countGates(gates);
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

function statesOf(gates: Gates): GateState[] {
  return gates.states ?? GATE_NAMES.map((name) => (gates.required.includes(name) ? "open" : "optional"));
}

/** How many gates are required, and how many passed on the files as they are. */
export function countGates(gates: Gates) {
  const states = statesOf(gates);
  return { required: states.filter((state) => state !== "optional").length, passed: states.filter((state) => state === "passed" || state === "forced").length };
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

function inWords(evidence: Evidence): string {
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

function resultOf(evidence: Extract<Evidence, { kind: "command" }>) {
  if (evidence.timedOut) return "timed out";
  const code = evidence.exitCode === null ? "ended by a signal" : `exit ${evidence.exitCode}`;
  return `${code}, ${duration(evidence.durationMs)}`;
}
