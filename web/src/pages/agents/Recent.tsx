import type { Resource } from "../../api/resource";
import { glyphOf } from "../../agents/data";
import type { Agent, Execution } from "../../agents/types";
import { exact, timeOfDay } from "../../format/time";
import { Empty, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";

interface Props {
  executions: Resource<{ executions: Execution[]; total: number }>;
  of: (id: string | null) => Agent | undefined;
}

const SHOWN = 12;

/** The last messages and where they went. */
export function Recent({ executions, of }: Props) {
  return (
    <section className="agents-recent">
      <h2 className="agents-recent-title">Recent</h2>
      <Loaded of={executions}>
        {({ executions: list }) =>
          list.length === 0 ? (
            <Empty command="cleo agents execute 'Explain the Second War in Warcraft.'">No messages yet. Run one and see where it goes.</Empty>
          ) : (
            <ul>
              {list.slice(0, SHOWN).map((one) => (
                <li key={one.id}>
                  <Row one={one} name={of(one.delegatedTo)?.name ?? one.delegatedTo ?? "finalize"} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function Row({ one, name }: { one: Execution; name: string }) {
  return (
    <Link className="agents-recent-row" href={`/agents/architecture?execution=${encodeURIComponent(one.id)}`}>
      <time className="small muted" dateTime={one.startTime} title={exact(one.startTime)}>
        {timeOfDay(one.startTime)}
      </time>
      <StatusGlyph {...glyphOf(one)} verified={false} />
      <span className="strong ell">{name}</span>
      <span className="mono right">{one.routing.by === "requested" ? "asked" : one.routing.score}</span>
      <span className="muted ell">{one.input}</span>
    </Link>
  );
}
