// What the agent said and what cleo found, side by side and never merged.
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import type { Proof as Found } from "../../api/runs";
import { duration } from "../../format/numbers";
import { Command } from "../../parts/Command";
import { Loaded, sentence } from "../../parts/States";
import { told } from "../../parts/told";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Section } from "../../parts/Facts";

export function Proof({ run, task, attempt }: { run: string; task: string; attempt: number }) {
  const proof = useResource<Found>(path(`/api/runs/${encodeURIComponent(run)}/proof`, { task, attempt }), {
    on: (event) => event.data["runId"] === run && event.data["taskId"] === task,
  });
  return (
    <Loaded of={proof} rows={5}>
      {(data) => <Shown proof={data} />}
    </Loaded>
  );
}

function Shown({ proof }: { proof: Found }) {
  return (
    <>
      <Section
        title="What the agent said"
        aside={
          <>
            attempt {proof.attempt}
            {proof.said.exitCode !== null ? `, exit ${proof.said.exitCode}` : ""}
          </>
        }
      >
        {proof.said.message ? <p className="quote text">{proof.said.message}</p> : <p className="muted">Nothing yet.</p>}
        {proof.said.claims.length > 0 && (
          <ul className="quote">
            {proof.said.claims.map((claim) => (
              <li key={claim} className="text">
                {claim}
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="What cleo found">
        {proof.found.length === 0 && <p className="muted">Nothing was checked yet.</p>}
        <ul className="found">
          {proof.found.map((one) => (
            <li key={one.check}>
              <StatusGlyph state={one.ok === true ? "done" : one.ok === false ? "failed" : "waiting"} label={one.ok === true ? "holds" : one.ok === false ? "does not hold" : "not reached"} />
              <span>{named(one.check)}</span>
              <span className="text muted">
                {one.text}
                {one.command && <span className="mono"> {one.command.join(" ")}</span>}
                {one.exitCode != null && one.exitCode !== 0 && <span className="bad"> exit {one.exitCode}</span>}
                {one.durationMs != null && ` ${duration(one.durationMs)}`}
              </span>
            </li>
          ))}
        </ul>
        <p className="verdict text">
          <Verdict text={proof.verdict} />
          {proof.next && <span className="muted"> Next: {proof.next}.</span>}
        </p>
        {told(proof.verdict).command && <Command line={told(proof.verdict).command ?? ""} />}
      </Section>
    </>
  );
}

function named(check: string) {
  const bare = check.replace(/^gate /, "");
  return bare === check ? bare.charAt(0).toUpperCase() + bare.slice(1) : bare;
}

/** "Refused: 3 of 41 tests failed." with its first word strong. */
function Verdict({ text: said }: { text: string }) {
  const text = said.replace(/E_[A-Z_]+: /, "");
  const colon = text.indexOf(":");
  if (colon < 0) return <span className="strong">{sentence(text)}</span>;
  return (
    <>
      <span className="strong">{text.slice(0, colon)}:</span> {told(text.slice(colon + 1).trim()).words}
    </>
  );
}
