// What is known of one attempt: what its agent said and cleo found, what it was sent, what it took.
import type { Attempt, Proof as Found, RunTask } from "../../api/types";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { duration, Bytes, Digest, Cost, Duration, capital, count } from "../../format";
import { Button, Command } from "../../parts/Button";
import { Menu } from "../../parts/Menu";
import { Loaded, quoted, sentence, told, Empty } from "../../parts/States";
import { StatusGlyph, STATE_WORDS } from "../../parts/StatusGlyph";
import { Copied, Lines, Section, Term } from "../../parts/Facts";
import { navigate, withQuery } from "../../router";
import { useKeys } from "../../shell/keys";
import { spaced } from "./useLog";

export function Proof({ run, task, attempt }: { run: string; task: string; attempt: number }) {
  const proof = useResource<Found>(path(`/api/runs/${encodeURIComponent(run)}/proof`, { task, attempt }), {
    on: (event) => event.kind === "run" && event.data["runId"] === run && event.data["taskId"] === task,
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
      <Section title="What the agent said" aside={`attempt ${proof.attempt}${proof.said.exitCode !== null ? `, exit ${proof.said.exitCode}` : ""}`}>
        {proof.said.message ? <p className="quote text">{proof.said.message}</p> : <p className="muted">Nothing yet.</p>}
        {proof.said.claims.length > 0 && <Lines className="quote" of={proof.said.claims} />}
      </Section>
      <Section title="What cleo found">
        {proof.found.length === 0 && <p className="muted">Nothing was checked yet.</p>}
        <ul className="found">
          {proof.found.map((one) => (
            <li key={one.check}>
              <StatusGlyph state={one.ok === true ? "done" : one.ok === false ? "failed" : "waiting"} label={one.ok === true ? "holds" : one.ok === false ? "does not hold" : "not reached"} />
              <span>{named(one.check)}</span>
              <span className="text muted">
                {quoted(one.text)
                  .split(/(sha256:[0-9a-f]{13,})/)
                  .map((part, at) => (at % 2 === 1 ? <Digest key={part} value={part} /> : part))}
                {one.command && <span className="mono"> {one.command.join(" ")}</span>}
                {one.exitCode != null && one.exitCode !== 0 && <span className="bad"> exit {one.exitCode}</span>}
                {one.durationMs != null && ` ${duration(one.durationMs)}`}
              </span>
            </li>
          ))}
        </ul>
        <p className="verdict text">
          <Verdict text={proof.verdict} />
          {proof.next && !told(proof.next).words.startsWith(told(proof.verdict.replace(/^\w+: /, "")).words) && <span className="muted"> Next: {sentence(proof.next)}</span>}
        </p>
        {told(proof.verdict).command && <Command line={told(proof.verdict).command ?? ""} />}
      </Section>
    </>
  );
}

function named(check: string) {
  if (check.startsWith("gate ")) return check.slice(5);
  return capital(check.replace(/^[A-Z]+$/, (code) => code.toLowerCase()));
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

/** The very text that the agent got, also a repair's. */
export function SentPrompt({ run, task, attempt }: { run: string; task: string; attempt: number }) {
  const prompt = useResource<{ text: string; bytes: number; digest: string }>(`/api/runs/${encodeURIComponent(run)}/tasks/${encodeURIComponent(task)}/attempts/${attempt}/prompt`);
  if (prompt.failure?.status === 404) return <Empty>The prompt of this attempt was not kept.</Empty>;
  return (
    <Loaded of={prompt}>
      {(data) => (
        <Copied
          what="prompt"
          text={data.text}
          title={
            <>
              <Bytes n={data.bytes} /> <Digest value={data.digest} />
            </>
          }
        />
      )}
    </Loaded>
  );
}

/** What the attempt took, as its runner reported it; nothing is estimated. */
export function UsageTab({ task, attempt }: { task: RunTask; attempt: Attempt }) {
  const figures = Object.entries(attempt.usage ?? {}).filter(([, value]) => typeof value === "number") as [string, number][];
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Runner" mono={attempt.runner ?? "unknown"} />
        <Term name="Time" value={<Duration {...(attempt.endedAt ? { ms: attempt.durationMs } : { since: attempt.startedAt })} />} />
        <Term name="Turns">{attempt.turns ?? "unknown"}</Term>
        <Term name="Exit code">{attempt.exitCode ?? (attempt.endedAt ? "none, ended by a signal" : "still running")}</Term>
        {figures.map(([name, n]) => (
          <Term key={name} name={capital(spaced(name))}>
            {count(n)}
          </Term>
        ))}
        <Term name="Cost" value={<Cost usd={attempt.cost} />} />
        <Term name="Skill" mono={task.skill} />
      </dl>
      {figures.length === 0 && <p className="muted small">This runner reports no tokens.</p>}
    </div>
  );
}

/** Which attempt at a task is shown; keys go from one to the next. */
export function AttemptMenu({ step: { taskId, history }, now, small = false }: { step: RunTask; now: Attempt; small?: boolean }) {
  const go = (attempt: number) => history.some((one) => one.attempt === attempt) && navigate(withQuery({ task: taskId, attempt: String(attempt) }), { replace: true });
  useKeys("Attempts", [
    { keys: ",", does: "Attempt before", run: () => go(now.attempt - 1) },
    { keys: ".", does: "Next attempt", run: () => go(now.attempt + 1) },
  ]);
  if (history.length < 2) return null;
  return (
    <Menu
      label="Attempts"
      trigger={
        <Button small={small}>
          Attempt {now.attempt} of {history.at(-1)?.attempt}
        </Button>
      }
      entries={history.map((one) => ({ label: `Attempt ${one.attempt}, ${STATE_WORDS[one.state].toLowerCase()}`, checked: one === now, onSelect: () => go(one.attempt) }))}
    />
  );
}
