// This run beside another one: steps whose outcome, time or cost differ.
import { useResource } from "../../api/resource";
import { isLive, touchesRun, type RunPage } from "../../api/runs";
import { Cost, Duration } from "../../format";
import { timeOfDay } from "../../format/time";
import { plural } from "../../format/numbers";
import { Absent, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";
import { useQuery, withQuery } from "../../router/location";
import { compared, type Compared, type Side } from "./compared";
import { RunGlyph, STATUS_WORDS } from "./RunLine";
import { Term } from "../../parts/Facts";

export default function RunCompare({ page, other }: { page: RunPage; other: string }) {
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(other)}`, { on: touchesRun(other) });
  const absent = (
    <Absent id={other}>
      <Link className="link" href={withQuery({ compare: null })}>
        Back to the run
      </Link>
    </Absent>
  );
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
        <Link className="link" href={withQuery({ compare: null, steps: null })}>
          Close the comparison
        </Link>
      </p>
      {shown.length > 0 && <Steps steps={shown} />}
    </div>
  );
}

function Whole({ page: { run, reported }, name }: { page: RunPage; name: string }) {
  return (
    <section className="section">
      <h2>
        {name}{" "}
        <Link className="link aside" href={`/runs/${encodeURIComponent(run.id)}`}>
          {timeOfDay(run.startedAt)}
        </Link>
      </h2>
      <dl className="facts">
        <Term name="Outcome">
          <RunGlyph run={run} /> {STATUS_WORDS[run.status]}
        </Term>
        <Term name="Verified">{run.steps ? `${run.steps.done} of ${run.steps.total}` : "unknown"}</Term>
        <Term name="Attempts">
          {reported.attempts}
          {reported.failed > 0 ? `, ${reported.failed} failed` : ""}
        </Term>
        <Term name="Time">
          <Duration {...(isLive(run.status) ? { since: run.startedAt } : { ms: run.durationMs })} />
        </Term>
        <Term name="Cost">
          <Cost usd={run.cost} />
        </Term>
      </dl>
    </section>
  );
}

function Steps({ steps }: { steps: Compared[] }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">This run</th>
          <th scope="col" className="figure">
            Time
          </th>
          <th scope="col" className="figure desk-only">
            Cost
          </th>
          <th scope="col">The other run</th>
          <th scope="col" className="figure">
            Time
          </th>
          <th scope="col" className="figure desk-only">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={step.id}>
            <th scope="row">
              <Link className="mono link" href={`/work/${step.id}`}>
                {step.id}
              </Link>{" "}
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
