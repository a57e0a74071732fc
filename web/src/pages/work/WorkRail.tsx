import { Fact, Rail } from "../../parts/Rail";
import { plural, roughly } from "../../format/numbers";
import type { Graph } from "../../api/work";
import type { State } from "../../parts/state";
import { withQuery } from "../../router/location";

const SHOWN: [State, string][] = [
  ["running", "Running"],
  ["verifying", "Verifying"],
  ["failed", "Failed"],
  ["needsYou", "Needs you"],
  ["ready", "Ready"],
  ["waiting", "Waiting"],
];

/** Counts of the graph; a state that no task has takes no place, but for those a person looks for. */
export function WorkRail({ graph }: { graph: Graph | undefined }) {
  const counts = graph?.counts;
  const always = new Set<State>(["running", "ready", "waiting"]);
  return (
    <Rail>
      <Fact
        label="Done, verified"
        value={counts?.verified}
        unit={counts && `of ${counts.total}`}
        href={withQuery({ status: "done", view: "list" })}
        title={counts && `${counts.done} done, ${counts.verified} of them checked by cleo`}
      />
      {SHOWN.filter(([state]) => always.has(state) || (counts?.[state] ?? 0) > 0).map(([state, label]) => (
        <Fact key={state} label={label} glyph={state !== "running" || (counts?.running ?? 0) > 0 ? state : undefined} value={counts?.[state]} href={withQuery({ status: state, view: "list" })} />
      ))}
      <Critical graph={graph} />
    </Rail>
  );
}

function Critical({ graph }: { graph: Graph | undefined }) {
  const path = graph?.criticalPath;
  if (!path || path.left === 0) return null;
  const first = path.tasks.slice(0, 4).join(", ") + (path.tasks.length > 4 ? ` and ${path.tasks.length - 4} more` : "");
  const about = path.aboutMs === null ? undefined : `about ${roughly(path.aboutMs)}, from the median of ${plural(path.samples, "finished attempt")}`;
  return <Fact wide label={`Critical path: ${first}`} value={`${path.left} left`} unit={about} />;
}
