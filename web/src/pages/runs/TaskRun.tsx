// A run over tasks: the timeline above, the log and the proof of the selected attempt below.
import { useMemo } from "react";
import type { Attempt, RunPage, RunTask } from "../../api/runs";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Tabs } from "../../parts/Tabs";
import { navigate, usePlace, withQuery } from "../../router/location";
import { useKeys } from "../../shell/keys";
import { Link } from "wouter";
import { RunAgain } from "./RunAgain";
import { Log } from "./Log";
import { Proof } from "./Proof";
import { SentPrompt } from "./SentPrompt";
import { Timeline } from "./timeline/Timeline";
import { UsageTab } from "./UsageTab";

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
      <Link className="link" replace href={withQuery({ task: null, attempt: null })}>
        Close
      </Link>
    </p>
  );
}

function Head({ task, attempt, run, live }: { task: RunTask; attempt: Attempt | undefined; run: string; live: boolean }) {
  return (
    <header className="attempt-head">
      <StatusGlyph state={task.state} />
      <Link className="mono link" href={`/work/${task.taskId}`}>
        {task.taskId}
      </Link>
      <h2 className="ell">{task.title}</h2>
      {task.attempts.length > 1 && (
        <nav className="segments small" aria-label="Attempts">
          {task.attempts.map((one) => (
            <Link
              key={one.attempt}
              href={withQuery({ task: task.taskId, attempt: String(one.attempt) }, `/runs/${run}${window.location.search}`)}
              replace
              {...(one === attempt ? { "aria-current": "true" as const } : {})}
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
  return tasks.find((task) => task.state === "running") ?? tasks.find((task) => task.state === "failed") ?? tasks.find((task) => task.attempts.length > 0) ?? tasks[0];
}

function attemptOf(task: RunTask | undefined, wanted: string | null) {
  return task?.attempts.find((one) => String(one.attempt) === wanted) ?? task?.attempts.at(-1);
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
    const to = task?.attempts.find((one) => one.attempt === (attempt?.attempt ?? 0) + by);
    if (task && to) navigate(withQuery({ task: task.taskId, attempt: String(to.attempt) }), { replace: true });
  }
  useKeys("Run", [
    { keys: "J|ArrowDown", does: "Next step", run: () => step(1) },
    { keys: "K|ArrowUp", does: "Step before", run: () => step(-1) },
    { keys: ",", does: "Attempt before", run: () => turn(-1) },
    { keys: ".", does: "Next attempt", run: () => turn(1) },
  ]);
}
