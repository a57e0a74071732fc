import type { Resource } from "../api/resource";
import type { Execution } from "../api/types";
import { duration, UNKNOWN, At } from "../format";
import { Empty, Loaded } from "../parts/States";
import { StatusGlyph } from "../parts/StatusGlyph";
import { Link } from "../router";
import { glyphOf } from "./agents";
import "./executions.css";

/** The last executions; each opens in the monitor. */
export function Executions({ executions, name, shown }: { executions: Resource<{ executions: Execution[]; total: number }>; name: (id: string) => string; shown?: string | null }) {
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
                  <Link className="execution-row" href={`/agents/architecture?execution=${encodeURIComponent(one.id)}`} aria-current={one.id === shown ? "true" : undefined}>
                    <At at={one.startTime} />
                    <StatusGlyph {...glyphOf(one)} verified={false} />
                    <span className="strong ell">{name(one.delegatedTo ?? "finalize")}</span>
                    <span className="mono muted right">{one.metrics.executionTime === null ? UNKNOWN : duration(one.metrics.executionTime)}</span>
                    <span className="muted ell">{one.error ?? one.input}</span>
                  </Link>
                </li>
              ))}
            </ul>
            {total > list.length && <p className="small muted padded">{`The last ${list.length} of ${total}.`}</p>}
          </>
        )
      }
    </Loaded>
  );
}
