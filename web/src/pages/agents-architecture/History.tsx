import { useState } from "react";
import { At } from "../../format";
import { useEvents, type LiveEvent } from "../../api/events";
import { record } from "../../api/request";

const TYPES = ["agent-delegation", "execution_start", "execution_end"];

/** What is told of agents and executions while the page is open, newest first. */
export function GraphEvents({ name }: { name: (id: string) => string }) {
  const [heard, setHeard] = useState<readonly LiveEvent[]>([]);
  useEvents((events) => setHeard((now) => [...events.filter(({ kind, data }) => kind === "agents" || TYPES.includes(String(data["type"]))).reverse(), ...now].slice(0, 200)));
  if (heard.length === 0) return <p className="padded muted">Nothing happened since this was opened. Events of agents and executions come here as they happen.</p>;
  return (
    <ol className="graph-events">
      {heard.map(({ kind, data }, place) => (
        <li key={heard.length - place}>
          <At at={String(data["at"] ?? "")} />
          <span className="mono muted ell">{String(data["type"] ?? kind)}</span>
          <span className="ell">{told(data, name)}</span>
        </li>
      ))}
    </ol>
  );
}

function told({ runId = "the registry changed", detail }: LiveEvent["data"], name: (id: string) => string) {
  const { from, to, reason, status = "" } = record(detail) ?? {};
  return from === undefined ? `${String(runId)} ${String(status)}` : `${String(from)} → ${name(String(to))}: ${String(reason)}`;
}
