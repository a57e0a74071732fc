import { GATE_NAMES, type Evidence, type GateRecord, type Gates } from "../../../api/work";
import { Ago, Digest } from "../../../format";
import { Empty } from "../../../parts/States";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import { inWords, resultOf } from "./GateList";

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
      {evidence.kind === "command" && evidence.lastLines.length > 0 && (
        <pre className="code" tabIndex={0}>
          {evidence.lastLines.join("\n")}
        </pre>
      )}
    </div>
  );
}
