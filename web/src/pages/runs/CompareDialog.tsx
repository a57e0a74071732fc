import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import type { RunRow, RunsList } from "../../api/runs";
import { timeOfDay } from "../../format/time";
import { Dialog } from "../../parts/Dialog";
import { Empty, Loaded } from "../../parts/States";
import { Link } from "wouter";
import { RunGlyph } from "./RunLine";

/** Asks which run of the same kind this one is compared with. */
export function CompareDialog({ run, onClose }: { run: RunRow; onClose: () => void }) {
  const runs = useResource<RunsList>(path("/api/runs", { kind: run.kind, limit: 50 }));
  return (
    <Dialog title="Compare with which run?" onClose={onClose} wide>
      <Loaded of={runs} rows={4}>
        {({ runs: all }) => <Others run={run} others={all.filter((one) => one.id !== run.id)} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

function Others({ run, others, onClose }: { run: RunRow; others: RunRow[]; onClose: () => void }) {
  if (others.length === 0) return <Empty>There is no other run of this kind yet.</Empty>;
  return (
    <ul className="previewed" tabIndex={0} aria-label="Other runs, newest first">
      {others.map((one) => (
        <li key={one.id}>
          <Link className="row link-row" href={`/runs/${encodeURIComponent(run.id)}?compare=${encodeURIComponent(one.id)}`} onClick={onClose}>
            <RunGlyph run={one} />
            <span className="grow ell">{one.title}</span>
            <span className="small muted">{one.steps ? `${one.steps.done} of ${one.steps.total}` : ""}</span>
            <time className="small muted" dateTime={one.startedAt}>
              {timeOfDay(one.startedAt)}
            </time>
          </Link>
        </li>
      ))}
    </ul>
  );
}
