// A run over tasks: the timeline above, the log and the proof of the selected attempt below.
import { useMemo, type ReactNode } from "react";
import type { RunPage, RunTask } from "../../api/types";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { navigate, usePlace, withQuery, TextLink, Link } from "../../router";
import { useKeys } from "../../shell/keys";
import { RunButtons } from "../work/RunButtons";
import { Log } from "./Log";
import { Timeline } from "./timeline/Timeline";
import { AttemptMenu, Proof } from "./attempt";
import { logsOf } from "./attempts";

export function TaskRun({ page, live }: { page: RunPage; live: boolean }) {
  const { query } = usePlace();
  const wanted = query.get("task");
  const { tasks } = page;
  const first = tasks.find((one) => one.state === "running") ?? tasks.find((one) => one.state === "failed") ?? tasks.find((one) => one.history.length > 0) ?? tasks[0];
  const task = tasks.find((one) => one.taskId === wanted) ?? first;
  const number = query.get("attempt");
  const attempt = task?.history.find((one) => String(one.attempt) === number) ?? task?.history.at(-1);
  useRunKeys(tasks, task);
  const others = tasks.filter((one) => one !== task && one.history.length > 0).sort((one, other) => Number(other.state === "running") - Number(one.state === "running"));
  const beside = attempt && task && others.length > 0 && logsOf([task, ...others].map((one) => `${page.run.id}/${one.taskId}`));
  return (
    <div className="task-run">
      <Timeline page={page} live={live} selected={task?.taskId ?? null} />
      <div className="below">
        {wanted !== null && wanted !== task?.taskId && <NotInIt what={wanted} />}
        {number !== null && wanted === task?.taskId && number !== String(attempt?.attempt) && <NotInIt what={`Attempt ${number} of ${wanted}`} />}
        {task && (
          <Head task={task} run={page.run.id} live={live} before={attempt && <AttemptMenu small step={task} now={attempt} />}>
            {beside && (
              <Link className="button small" href={beside}>
                Compare logs
              </Link>
            )}
            {!live && !task.isEpic && task.state !== "done" && <RunButtons main plain id={task.taskId} state="failed" run={null} tried={task.history.length > 0} />}
            {attempt && (
              <Link className="button small" href={`/runs/${page.run.id}/${task.taskId}?attempt=${attempt.attempt}`}>
                Review
              </Link>
            )}
          </Head>
        )}
        {task && attempt ? (
          <div className="log-and-proof">
            <Log key={`${task.taskId} ${attempt.attempt}`} run={page.run.id} task={task.taskId} attempt={attempt.attempt} />
            <aside className="panel" aria-label={`Attempt ${attempt.attempt} of ${task.taskId}`}>
              <div className="scroll">
                <Proof run={page.run.id} task={task.taskId} attempt={attempt.attempt} />
              </div>
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

/** What a step is and does, and the agent that works on it can be stopped. */
export function Head({ task, run, live, before, children }: { task: RunTask; run: string; live: boolean; before?: ReactNode; children: ReactNode }) {
  return (
    <header className="attempt-head">
      <StatusGlyph state={task.state} />
      <TextLink className="mono" href={`/work/${task.taskId}`}>
        {task.taskId}
      </TextLink>
      <h2 className="ell">{task.title}</h2>
      {before}
      {task.doing && <span className="small muted ell">{task.doing}</span>}
      <span className="grow" />
      {live && (task.state === "running" || task.state === "verifying") && <RunButtons id={task.taskId} state="running" run={run} tried />}
      {children}
    </header>
  );
}

function whyNotStarted(task: RunTask) {
  if (task.state === "skipped" || task.state === "cancelled") return `${task.taskId} was ${task.state}${task.reason ? `: ${task.reason}` : ""}.`;
  if (task.readyAt) return `${task.taskId} waits for a slot.`;
  if (task.needs.length > 0) return `${task.taskId} waits for ${task.needs.join(", ")}.`;
  return `${task.taskId} has not been started.`;
}

function useRunKeys(tasks: RunTask[], task: RunTask | undefined) {
  const rows = useMemo(() => tasks.filter((one) => !one.isEpic), [tasks]);
  function step(by: number) {
    const at = rows.findIndex((one) => one.taskId === task?.taskId);
    const to = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (to) navigate(withQuery({ task: to.taskId, attempt: null }), { replace: true });
  }
  useKeys("Run", [
    { keys: "J|ArrowDown", does: "Next step", run: () => step(1) },
    { keys: "K|ArrowUp", does: "Step before", run: () => step(-1) },
  ]);
}
