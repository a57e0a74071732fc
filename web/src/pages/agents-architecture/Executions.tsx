import type { Resource } from "../../api/resource";
import { glyphOf } from "../../agents/data";
import type { Execution } from "../../agents/types";
import { duration, UNKNOWN } from "../../format/numbers";
import { exact, timeOfDay } from "../../format/time";
import { Empty, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";
import { withQuery } from "../../router/location";

interface Props {
  executions: Resource<{ executions: Execution[]; total: number }>;
  name: (id: string) => string;
  shown: string | null;
}

/** The last executions; each opens in the monitor. */
export function Executions({ executions, name, shown }: Props) {
  return (
    <Loaded of={executions}>
      {({ executions: list, total }) =>
        list.length === 0 ? (
          <Empty command="cleo agents execute 'Explain the Second War in Warcraft.'">No executions yet. Run a message to see its steps here.</Empty>
        ) : (
          <>
            <ul aria-label="Executions">
              {list.map((one) => (
                <li key={one.id}>
                  <Link className="execution-row" href={withQuery({ execution: one.id })} aria-current={one.id === shown ? "true" : undefined}>
                    <time className="small muted" dateTime={one.startTime} title={exact(one.startTime)}>
                      {timeOfDay(one.startTime)}
                    </time>
                    <StatusGlyph {...glyphOf(one)} verified={false} />
                    <span className="strong ell">{name(one.delegatedTo ?? "finalize")}</span>
                    <span className="mono muted right">{one.metrics.executionTime === null ? UNKNOWN : duration(one.metrics.executionTime)}</span>
                    <span className="muted ell">{one.error ?? one.input}</span>
                  </Link>
                </li>
              ))}
            </ul>
            {total > list.length && <p className="small muted execution-more">{`The last ${list.length} of ${total}.`}</p>}
          </>
        )
      }
    </Loaded>
  );
}
