import type { Resource } from "../../api/resource";
import type { Agent, Metrics, TaskStats } from "../../agents/types";
import { plural } from "../../format/numbers";
import { Icon, type IconName } from "../../parts/Icon";
import { Trouble } from "../../parts/States";
import { Link } from "wouter";

interface Props {
  agents: readonly Agent[];
  loaded: Resource<unknown>;
  metrics: Metrics | undefined;
  conversations: number | undefined;
  stats: TaskStats | undefined;
}

/** The four pages of agents, each with one number of its own. */
export function Modules({ agents, loaded, metrics, conversations, stats }: Props) {
  if (loaded.failure && !loaded.data) return <Trouble failure={loaded.failure} retry={loaded.reload} />;
  const paused = agents.filter((agent) => agent.status === "paused").length;
  const known = loaded.data !== undefined;
  return (
    <ul className="agents-modules">
      <Module href="/agents/architecture" icon="architecture" title="Architecture" about="See where a message goes and why, run it, watch each step">
        {metrics && `${metrics.dashboard.activeAgents} active, ${metrics.dashboard.runningExecutions} running`}
      </Module>
      <Module href="/agents/manage" icon="manage" title="Manage" about="Create, edit, pause; try tags against real messages">
        {known && `${plural(agents.length, "agent")}, ${paused} paused`}
      </Module>
      <Module href="/agents/chat" icon="chat" title="Chat" about="Talk to one agent, or have each message routed">
        {conversations !== undefined && plural(conversations, "conversation")}
      </Module>
      <Module href="/agents/tasks" icon="board" title="Tasks" about="Assign work to agents and follow it to done">
        {stats && `${open(stats)} open, ${stats.overdue} overdue`}
      </Module>
    </ul>
  );
}

function open({ byStatus }: TaskStats): number {
  return byStatus.todo + byStatus.doing + byStatus.review + byStatus.paused;
}

function Module(props: { href: string; icon: IconName; title: string; about: string; children: React.ReactNode }) {
  return (
    <li>
      <Link href={props.href} className="agents-module">
        <Icon name={props.icon} />
        <span className="what">
          <span className="strong">{props.title}</span>
          <span className="muted ell">{props.about}</span>
        </span>
        <span className="figure">{props.children || <span className="muted">–</span>}</span>
        <Icon name="right" />
      </Link>
    </li>
  );
}
