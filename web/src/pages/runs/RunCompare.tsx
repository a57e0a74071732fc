// This run beside another one: steps whose outcome, time or cost differ.
import { useResource } from "../../api/resource";
import { isLive, touchesRun, type RunPage, type RunTask } from "../../api/types";
import { Cost, Duration, timeOfDay, plural, cost, duration, UNKNOWN } from "../../format";
import { Absent, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { useQuery, withQuery, TextLink } from "../../router";
import { Term, TableHead } from "../../parts/Facts";
import { RunGlyph, STATUS_WORDS } from "./RunLine";
import { reported } from "./attempts";

export default function RunCompare({ page, other }: { page: RunPage; other: string }) {
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(other)}`, { on: touchesRun(other) });
  const absent = <Absent id={other} back={<TextLink href={withQuery({ compare: null })}>Back to the run</TextLink>} />;
  return (
    <Loaded of={run} rows={8} absent={absent}>
      {(data) => <Both one={page} other={data} />}
    </Loaded>
  );
}

function Both({ one, other }: { one: RunPage; other: RunPage }) {
  const [all, setAll] = useQuery("steps");
  const steps = compared(one.tasks, other.tasks);
  const changed = steps.filter((step) => step.differs.length > 0);
  const shown = all === "all" ? steps : changed;
  return (
    <div className="compare" tabIndex={0} role="group" aria-label="Two runs compared">
      <div className="sides">
        <Whole page={one} name="This run" />
        <Whole page={other} name="The other run" />
      </div>
      <p className="row wrap small muted">
        <span role="status">{changed.length === 0 ? "No step differs." : `${plural(changed.length, "step differs", "steps differ")}, ${steps.length - changed.length} came out the same.`}</span>
        <label className="check">
          <input type="checkbox" checked={all === "all"} onChange={(event) => setAll(event.target.checked ? "all" : null)} />
          Show all steps
        </label>
        <TextLink href={withQuery({ compare: null, steps: null })}>Close the comparison</TextLink>
      </p>
      {shown.length > 0 && <Steps steps={shown} />}
    </div>
  );
}

function Whole({ page, name }: { page: RunPage; name: string }) {
  const { run } = page;
  const { attempts, failed } = reported(page);
  return (
    <section className="section">
      <h2>
        {name}{" "}
        <TextLink className="aside" href={`/runs/${encodeURIComponent(run.id)}`}>
          {timeOfDay(run.startedAt)}
        </TextLink>
      </h2>
      <dl className="facts">
        <Term name="Outcome">
          <RunGlyph run={run} /> {STATUS_WORDS[run.status]}
        </Term>
        <Term name="Verified">{run.steps ? `${run.steps.done} of ${run.steps.total}` : "unknown"}</Term>
        <Term name="Attempts">
          {attempts}
          {failed > 0 ? `, ${failed} failed` : ""}
        </Term>
        <Term name="Time" value={<Duration {...(isLive(run.status) ? { since: run.startedAt } : { ms: run.durationMs })} />} />
        <Term name="Cost" value={<Cost usd={run.cost} />} />
      </dl>
    </section>
  );
}

function Steps({ steps }: { steps: Compared[] }) {
  return (
    <table className="table">
      <TableHead columns={["Step", "This run", ["Time", "figure"], ["Cost", "figure desk-only"], "The other run", ["Time", "figure"], ["Cost", "figure desk-only"]]} />
      <tbody>
        {steps.map((step) => (
          <tr key={step.id}>
            <th scope="row">
              <TextLink className="mono" href={`/work/${step.id}`}>
                {step.id}
              </TextLink>{" "}
              <span className="desk-only">{step.title}</span>
            </th>
            <Cells side={step.one} differs={step.differs} />
            <Cells side={step.other} differs={step.differs} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cells({ side, differs }: { side: Side | null; differs: Compared["differs"] }) {
  if (!side)
    return (
      <>
        <td className="muted">not in it</td>
        <td />
        <td className="desk-only" />
      </>
    );
  const look = (what: Compared["differs"][number]) => (differs.includes(what) ? "strong" : "muted");
  return (
    <>
      <td className={look("outcome")}>
        <span className="row tight">
          <StatusGlyph state={side.task.state} label="" />
          {side.outcome}
        </span>
      </td>
      <td className={`figure ${look("time")}`}>{side.time}</td>
      <td className={`figure desk-only ${look("cost")}`}>{side.cost}</td>
    </>
  );
}

interface Side {
  task: RunTask;
  outcome: string;
  time: string;
  cost: string;
}

interface Compared {
  id: string;
  title: string;
  one: Side | null;
  other: Side | null;
  /** What differs, as it is shown. */
  differs: ("outcome" | "time" | "cost")[];
}

/** All steps of both, in the order of the first run; what only the other has comes after. */
export function compared(one: RunTask[], other: RunTask[]): Compared[] {
  const steps = (tasks: RunTask[]) => new Map(tasks.filter((task) => !task.isEpic).map((task) => [task.taskId, task]));
  const [ours, theirs] = [steps(one), steps(other)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].map((id) => {
    const [a, b] = [sideOf(ours.get(id)), sideOf(theirs.get(id))];
    const differs = (["outcome", "time", "cost"] as const).filter((what) => a?.[what] !== b?.[what]);
    return { id, title: (a ?? b)?.task.title ?? "", one: a, other: b, differs };
  });
}

function sideOf(task: RunTask | undefined): Side | null {
  if (!task) return null;
  const tries = task.history.length;
  const took = task.durationMs;
  return {
    task,
    outcome: `${task.state}${tries > 1 ? `, ${tries} attempts` : ""}`,
    time: tries === 0 ? "" : took === null ? UNKNOWN : duration(took),
    cost: tries === 0 ? "" : task.cost === null ? UNKNOWN : cost(task.cost),
  };
}
