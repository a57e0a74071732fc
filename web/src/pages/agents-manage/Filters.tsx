import { useId } from "react";
import type { Agent, AgentStatus } from "../../agents/types";
import { Icon } from "../../parts/Icon";
import { Link } from "wouter";
import { useQuery, withQuery } from "../../router/location";

const STATUSES: AgentStatus[] = ["active", "paused", "archived"];
const WORDS: Record<AgentStatus, string> = { active: "Active", paused: "Paused", archived: "Archived" };

/** The agents that a filter leaves: by status, and by words of the name, the id and the tags. */
export function filtered(agents: readonly Agent[], status: string | null, words: string): Agent[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return agents.filter((agent) => {
    if (status !== null && agent.status !== status) return false;
    const text = [agent.name, agent.id, agent.description, ...agent.tags].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export function Filters({ agents, known }: { agents: readonly Agent[]; known: boolean }) {
  const [status] = useQuery("status");
  const [words, setWords] = useQuery("q");
  const field = useId();
  const counted = (one: AgentStatus) => agents.filter((agent) => agent.status === one).length;
  return (
    <div className="manage-filters">
      <nav className="segments" aria-label="Status">
        <Choice value={null} now={status} label="All" count={known ? agents.length : null} />
        {STATUSES.map((one) => (
          <Choice key={one} value={one} now={status} label={WORDS[one]} count={known ? counted(one) : null} />
        ))}
      </nav>
      <label className="unseen" htmlFor="find-agent" id={field}>
        Find an agent
      </label>
      <span className="manage-find">
        <Icon name="search" />
        <input id="find-agent" className="input" type="search" value={words ?? ""} placeholder="Name, id or tag" onChange={(event) => setWords(event.target.value)} />
      </span>
    </div>
  );
}

function Choice({ value, now, label, count }: { value: string | null; now: string | null; label: string; count: number | null }) {
  return (
    <Link href={withQuery({ status: value })} replace aria-current={value === now ? "true" : undefined}>
      {label} <span className="muted">{count ?? "–"}</span>
    </Link>
  );
}
