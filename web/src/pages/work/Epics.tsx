// Epics and other tasks with parts: their titles, and how far their parts are.
import type { Resource } from "../../api/resource";
import type { Graph } from "../../api/types";
import { Empty, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Windowed } from "../../parts/Windowed";
import { coarse, phone } from "../../parts/screen";
import { Link, withQuery } from "../../router";
import "./work.css";

export default function Epics({ graph }: { graph: Resource<Graph> }) {
  return (
    <div className="pane list">
      <Loaded of={graph} rows={10}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty command={'cleo add "First epic" --type epic'}>No epics yet. A task that others are a part of appears here, too.</Empty>
          ) : (
            <Windowed className="rows" label="Epics" items={groups} keyOf={(group) => group.id} heightOf={() => (coarse.matches || phone.matches ? 44 : 36)}>
              {(group) => (
                <Link className="line epic-line" href={withQuery({ epic: group.id, view: "list" })}>
                  <EpicFacts group={group} />
                </Link>
              )}
            </Windowed>
          )
        }
      </Loaded>
    </div>
  );
}

/** An epic on one line, with how far its parts are. */
export function EpicFacts({ group: { id, title, done, total } }: { group: Pick<Graph["groups"][number], "id" | "title" | "done" | "total"> }) {
  return (
    <>
      <StatusGlyph state={total > 0 && done === total ? "done" : done > 0 ? "running" : "waiting"} verified={false} label="" still />
      <span className="mono muted desk-only">{id}</span>
      <span className="ell">{title}</span>
      <progress value={done} max={Math.max(total, 1)} aria-label={`Parts of ${id}`} />
      <span className="figure muted">
        {done} of {total} done
      </span>
    </>
  );
}
