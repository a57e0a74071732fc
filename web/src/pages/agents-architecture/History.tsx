import { useState } from "react";
import { At } from "../../format";
import { useEvents, type LiveEvent } from "../../api/events";

interface Heard {
  key: number;
  at: string;
  kind: string;
  text: string;
}

const MOST = 200;
let heardSoFar = 0;

/** What is told of agents and executions while the page is open, newest first. */
export function GraphEvents({ name }: { name: (id: string) => string }) {
  const [heard, setHeard] = useState<Heard[]>([]);
  useEvents((events) => {
    const more = events.flatMap((event) => told(event, name));
    if (more.length > 0) setHeard((now) => [...more.reverse(), ...now].slice(0, MOST));
  });
  if (heard.length === 0) return <p className="padded muted">Nothing happened since this was opened. Events of agents and executions come here as they happen.</p>;
  return (
    <ol className="graph-events">
      {heard.map((one) => (
        <li key={one.key}>
          <At at={one.at} />
          <span className="mono muted ell">{one.kind}</span>
          <span className="ell">{one.text}</span>
        </li>
      ))}
    </ol>
  );
}

function told(event: LiveEvent, name: (id: string) => string): Heard[] {
  const at = String(event.data["at"] ?? "");
  const put = (kind: string, text: string) => [{ key: heardSoFar++, at, kind, text }];
  if (event.kind === "agents") return put("agents", "the registry changed");
  if (event.kind !== "run") return [];
  const detail = (event.data["detail"] ?? {}) as Record<string, unknown>;
  switch (event.data["type"]) {
    case "agent-delegation":
      return put("delegation", `${String(detail["from"])} → ${name(String(detail["to"]))}: ${String(detail["reason"])}`);
    case "execution_start":
    case "execution_end":
      return put(String(event.data["type"]), `${String(event.data["runId"])} ${String(detail["status"] ?? "")}`);
    default:
      return [];
  }
}
