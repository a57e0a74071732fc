// A run over tasks: the timeline above, the log and the proof of the selected attempt below.
import { useMemo } from "react";
import type { Attempt, RunPage, RunTask, Proof as Found } from "../../api/types";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Tabs } from "../../parts/Tabs";
import { navigate, usePlace, withQuery, TextLink, Link } from "../../router";
import { useKeys } from "../../shell/keys";
import { RunAgain } from "./RunActions";
import { Log } from "./Log";
import { Timeline } from "./timeline/Timeline";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { duration, Bytes, Digest, Cost, Duration, count } from "../../format";
import { Command, Button, Code } from "../../parts/Button";
import { Loaded, sentence, told, Empty } from "../../parts/States";
import { Section, Term } from "../../parts/Facts";
import { copy } from "../../parts/toasts";

export function TaskRun({ page, live }: { page: RunPage; live: boolean }) {
  const { query } = usePlace();
  const wanted = query.get("task");
  const task = page.tasks.find((one) => one.taskId === wanted) ?? firstWorthSeeing(page.tasks);
  const number = query.get("attempt");
  const attempt = attemptOf(task, number);
  const tab = query.get("tab") ?? "proof";
  useRunKeys(page.tasks, task, attempt);
  return (
    <div className="task-run">
      <Timeline page={page} live={live} selected={task?.taskId ?? null} />
      <div className="below">
        {wanted !== null && wanted !== task?.taskId && <NotInIt what={wanted} />}
        {number !== null && wanted === task?.taskId && number !== String(attempt?.attempt) && <NotInIt what={`Attempt ${number} of ${wanted}`} />}
        {task && <Head task={task} attempt={attempt} run={page.run.id} live={live} />}
        {task && attempt ? (
          <div className="log-and-proof">
            <Log key={`${task.taskId} ${attempt.attempt}`} run={page.run.id} task={task.taskId} attempt={attempt.attempt} />
            <aside className="panel" aria-label={`Attempt ${attempt.attempt} of ${task.taskId}`}>
              <Tabs
                label="Parts of the attempt"
                value={tab}
                onChange={(to) => navigate(withQuery({ tab: to === "proof" ? null : to }), { replace: true })}
                tabs={[
                  { id: "proof", label: "Proof", content: <Proof run={page.run.id} task={task.taskId} attempt={attempt.attempt} /> },
                  { id: "prompt", label: "Prompt", content: <SentPrompt run={page.run.id} task={task.taskId} attempt={attempt.attempt} /> },
                  { id: "usage", label: "Usage", content: <UsageTab task={task} attempt={attempt} /> },
                ]}
              />
            </aside>
          </div>
        ) : (
          <p className="empty muted">{task ? whyNotStarted(task) : "This run has no steps."}</p>
        )}
      </div>
    </div>
  );
}

/** Says that the address names what this run does not have: what follows is something else. */
function NotInIt({ what }: { what: string }) {
  return (
    <p className="notice" role="status">
      <span className="grow">{what} does not exist in this run. What follows is what it does have.</span>
      <TextLink replace href={withQuery({ task: null, attempt: null })}>
        Close
      </TextLink>
    </p>
  );
}

function Head({ task, attempt, run, live }: { task: RunTask; attempt: Attempt | undefined; run: string; live: boolean }) {
  return (
    <header className="attempt-head">
      <StatusGlyph state={task.state} />
      <TextLink className="mono" href={`/work/${task.taskId}`}>
        {task.taskId}
      </TextLink>
      <h2 className="ell">{task.title}</h2>
      {task.history.length > 1 && (
        <nav className="segments small" aria-label="Attempts">
          {task.history.map((one) => (
            <Link
              key={one.attempt}
              href={withQuery({ task: task.taskId, attempt: String(one.attempt) }, `/runs/${run}${window.location.search}`)}
              replace
              aria-current={one === attempt ? "true" : undefined}
            >
              Attempt {one.attempt}
            </Link>
          ))}
        </nav>
      )}
      {!live && !task.isEpic && task.state !== "done" && <RunAgain task={task.taskId} />}
      {task.doing && <span className="small muted ell">{task.doing}</span>}
    </header>
  );
}

function firstWorthSeeing(tasks: RunTask[]) {
  return tasks.find((task) => task.state === "running") ?? tasks.find((task) => task.state === "failed") ?? tasks.find((task) => task.history.length > 0) ?? tasks[0];
}

function attemptOf(task: RunTask | undefined, wanted: string | null) {
  return task?.history.find((one) => String(one.attempt) === wanted) ?? task?.history.at(-1);
}

function whyNotStarted(task: RunTask) {
  if (task.state === "skipped" || task.state === "cancelled") return `${task.taskId} was ${task.state}${task.reason ? `: ${task.reason}` : ""}.`;
  if (task.readyAt) return `${task.taskId} waits for a slot.`;
  if (task.needs.length > 0) return `${task.taskId} waits for ${task.needs.join(", ")}.`;
  return `${task.taskId} has not been started.`;
}

function useRunKeys(tasks: RunTask[], task: RunTask | undefined, attempt: Attempt | undefined) {
  const rows = useMemo(() => tasks.filter((one) => !one.isEpic), [tasks]);
  function step(by: number) {
    const at = rows.findIndex((one) => one.taskId === task?.taskId);
    const to = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (to) navigate(withQuery({ task: to.taskId, attempt: null }), { replace: true });
  }
  function turn(by: number) {
    const to = task?.history.find((one) => one.attempt === (attempt?.attempt ?? 0) + by);
    if (task && to) navigate(withQuery({ task: task.taskId, attempt: String(to.attempt) }), { replace: true });
  }
  useKeys("Run", [
    { keys: "J|ArrowDown", does: "Next step", run: () => step(1) },
    { keys: "K|ArrowUp", does: "Step before", run: () => step(-1) },
    { keys: ",", does: "Attempt before", run: () => turn(-1) },
    { keys: ".", does: "Next attempt", run: () => turn(1) },
  ]);
}

function Proof({ run, task, attempt }: { run: string; task: string; attempt: number }) {
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
      <Section title="What the agent said" aside={`attempt ${proof.attempt}${proof.said.exitCode !== null ? `, exit ${proof.said.exitCode}` : ""}`}>
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

/** The very text that the agent got, also a repair's. */
function SentPrompt({ run, task, attempt }: { run: string; task: string; attempt: number }) {
  const prompt = useResource<{ text: string; bytes: number; digest: string }>(`/api/runs/${encodeURIComponent(run)}/tasks/${encodeURIComponent(task)}/attempts/${attempt}/prompt`);
  if (prompt.failure?.status === 404) return <Empty>The prompt of this attempt was not kept.</Empty>;
  return (
    <Loaded of={prompt}>
      {(data) => (
        <div className="section">
          <h3>
            <Bytes n={data.bytes} /> <Digest value={data.digest} />
            <span className="aside">
              <Button small icon="copy" onClick={() => copy(data.text, "prompt")}>
                Copy
              </Button>
            </span>
          </h3>
          <Code>{data.text}</Code>
        </div>
      )}
    </Loaded>
  );
}

/** What the attempt took, as its runner reported it; nothing is estimated. */
function UsageTab({ task, attempt }: { task: RunTask; attempt: Attempt }) {
  const figures = Object.entries(attempt.usage ?? {}).filter(([, value]) => typeof value === "number") as [string, number][];
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Runner" mono={attempt.runner ?? "unknown"} />
        <Term name="Time">
          <Duration {...(attempt.endedAt ? { ms: attempt.durationMs } : { since: attempt.startedAt })} />
        </Term>
        <Term name="Turns">{attempt.turns ?? "unknown"}</Term>
        <Term name="Exit code">{attempt.exitCode ?? (attempt.endedAt ? "none, ended by a signal" : "still running")}</Term>
        {figures.map(([name, n]) => (
          <Term key={name} name={words(name)}>
            {count(n)}
          </Term>
        ))}
        <Term name="Cost">
          <Cost usd={attempt.cost} />
        </Term>
        <Term name="Skill" mono={task.skill} />
      </dl>
      {figures.length === 0 && <p className="muted small">This runner reports no tokens.</p>}
    </div>
  );
}

function words(name: string) {
  const all = name.replace(/([A-Z])/g, " $1").toLowerCase();
  return all.charAt(0).toUpperCase() + all.slice(1);
}
