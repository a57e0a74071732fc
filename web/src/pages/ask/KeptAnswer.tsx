import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { touchesRun, type RunPage } from "../../api/runs";
import { Absent, Empty, Loaded } from "../../parts/States";
import { Link } from "wouter";
import { Answer } from "./Answer";
import type { Answered } from "./answered";
import { keptAnswer, type Told } from "./kept";

interface Props {
  /** The run of the question. */
  id: string;
  /** The answer when it was given just now: it says more than what is kept of it. */
  fresh: Answered | null;
  debug: boolean;
}

/** The answer that the address names, also after a reload and while it is still to come. */
export function KeptAnswer({ id, fresh, debug }: Props) {
  const where = `/api/runs/${encodeURIComponent(id)}`;
  const run = useResource<RunPage>(fresh ? null : where, { on: touchesRun(id) });
  const events = useResource<{ events: Told[] }>(path(`${where}/events`, { limit: 1000 }), { on: touchesRun(id) });
  const told = events.data?.events ?? [];
  const open = (
    <Link className="link" href={`/runs/${encodeURIComponent(id)}`}>
      Open the run
    </Link>
  );
  if (fresh)
    return (
      <Answer answered={fresh} told={told} debug={debug}>
        {open}
      </Answer>
    );
  return (
    <Loaded
      of={run}
      rows={4}
      absent={
        <Absent id={id}>
          <Link className="link" href="/">
            Ask a question
          </Link>
        </Absent>
      }
    >
      {(page) => {
        if (page.run.kind !== "query")
          return (
            <Empty action={open}>
              <span className="mono">{id}</span> is no question to the supervisor.
            </Empty>
          );
        return (
          <Answer answered={keptAnswer(page, told)} told={told} debug={debug}>
            {open}
          </Answer>
        );
      }}
    </Loaded>
  );
}
