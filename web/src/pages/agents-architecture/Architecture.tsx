import { useCallback, useMemo, useState, memo } from "react";
import { settled, touch, type Resource } from "../../api/resource";
import { isOver, useAgents, useDelegations, useExecutions, useMetrics, Monogram, useRouted } from "../../agents/agents";
import { useHearing } from "../../agents/pieces";
import { DelegationTracker } from "../../agents/DelegationTracker";
import { RealTimeExecutionMonitor } from "../../agents/RealTimeExecutionMonitor";
import { Icon } from "../../parts/Icon";
import { Ghost, Loaded } from "../../parts/States";
import { Tabs } from "../../parts/Tabs";
import { navigate, useQuery, withQuery, TextLink, Link } from "../../router";
import { Page } from "../../shell/Page";
import { useCommands, useStatus } from "../../shell/places";
import { Executions } from "../../agents/Executions";
import { AtWork, Part, usePresent } from "../home/AtWork";
import { GraphEvents } from "./History";
import { GraphPane } from "./GraphPane";
import { QuickExecute } from "./QuickExecute";
import type { Agent, Metrics } from "../../api/types";
import { count, duration, plural, percent } from "../../format";
import { Fact, Rail, TableHead } from "../../parts/Facts";
import { api } from "../../api/request";
import { Button, TextButton } from "../../parts/Button";
import { Confirm } from "../../parts/Dialog";
import { useDraft } from "../../parts/draft";
import { toast } from "../../parts/toasts";
import "./architecture.css";

export default function Architecture() {
  const { resource, agents, of, name } = useAgents();
  useHearing();
  const metrics = useMetrics();
  const delegations = useDelegations(50);
  const executions = useExecutions(100);
  const [message, setMessage] = useDraft("execute");
  const [target, setTarget] = useState("");
  const [tab, setTab] = useState("delegations");
  const [shown, show] = useQuery("execution", { push: true });
  const [open, setOpen] = useQuery("delegation");
  const preview = useRouted({ message, agentId: target === "" ? undefined : target });
  const list = executions.data?.executions;
  const present = usePresent();
  const isThere = settled(resource, metrics, delegations, executions, present);
  const running = useMemo(() => (list ?? []).filter((one) => !isOver(one)), [list]);
  const live = useMemo(() => new Set(running.map((one) => one.delegatedTo ?? "finalize")), [running]);
  const watched = shown ?? running[0]?.id ?? null;
  // Executions are watched above, step by step.
  const atWork = (present.data?.atWork ?? []).filter((one) => one.run === null || one.run !== watched);
  useCommands("architecture", [{ label: "Refresh", hint: "asks the server anew", run: () => touch("/api/agents/") }]);
  const openAgent = useCallback((id: string) => navigate(id === "more" ? "/agents/manage" : `/agents/manage?agent=${encodeURIComponent(id)}`), []);
  return (
    <Page
      title="Architecture"
      crumbs={[{ label: "Agents", href: "/agents" }]}
      actions={
        isThere && (
          <>
            <Button className="desk-only" onClick={() => touch("/api/agents/")}>
              Refresh
            </Button>
            <span className="desk-only">
              <Cleanup agents={agents} />
            </span>
            <Link className="button primary" href="/agents/manage?edit=1">
              <Icon name="plus" />
              New agent
            </Link>
          </>
        )
      }
      rail={<ArchitectureRail key={String(isThere)} metrics={metrics.data} name={name} of={of} />}
    >
      {!isThere && <Ghost rows={8} />}
      <div className="architecture" hidden={!isThere}>
        <div className="architecture-left">
          <GraphPane resource={resource} agents={agents} metrics={metrics.data} routed={preview.routed} live={live} onOpen={openAgent} message={message} />
          <Tabs
            label="History"
            value={tab}
            onChange={setTab}
            tabs={[
              { id: "delegations", label: "Delegations", content: <DelegationTracker delegations={delegations} agents={agents} open={open} onOpen={setOpen} /> },
              { id: "executions", label: "Executions", content: <Executions executions={executions} name={name} shown={watched} /> },
              { id: "events", label: "Graph events", content: <GraphEvents name={name} /> },
            ]}
          />
          <p className="phone-only cleanup-phone">
            <Cleanup agents={agents} />
          </p>
        </div>
        <aside className="architecture-right" aria-label="Run a message">
          <QuickExecute message={message} onMessage={setMessage} target={target} onTarget={setTarget} agents={agents} preview={preview} onRun={(id) => show(id)} />
          {watched !== null && (
            <RealTimeExecutionMonitor
              id={watched}
              name={name}
              back={
                <TextLink replace href={withQuery({ execution: null })}>
                  Close it
                </TextLink>
              }
            >
              {shown !== null && running.some((one) => one.id !== shown) && (
                <TextButton className="small" onClick={() => show(null)}>
                  Show what runs now
                </TextButton>
              )}
            </RealTimeExecutionMonitor>
          )}
          {atWork.length > 0 && (
            <Part title="At work" of={atWork.length}>
              {atWork.map((one) => (
                <AtWork key={`${one.run} ${one.task ?? one.line}`} one={one} />
              ))}
            </Part>
          )}
          <AgentsTable agents={agents} metrics={metrics} />
        </aside>
      </div>
    </Page>
  );
}

function ArchitectureRail({ metrics, name, of }: { metrics: Metrics | undefined; name: (id: string) => string; of: (id: string) => Agent | undefined }) {
  const all = metrics?.dashboard;
  const atWork = useStatus()?.counts.atWork;
  return (
    <Rail>
      <Fact label="Active agents" value={all?.activeAgents} unit={all && `of ${all.totalAgents}`} href="/agents/manage?status=active" title="Agents that are active, the supervisor too" />
      <Fact label="At work" value={atWork} glyph={atWork ? "running" : undefined} title="Attempts of runs, executions, and claims outside of runs" href="/" />
      <Fact label="Executions" value={all && count(all.totalExecutions)} unit={all && (all.failedExecutions > 0 ? `${count(all.failedExecutions)} failed` : "none failed")} />
      <Fact label="Average answer" value={all && (all.averageResponseTimeMs === null ? "none yet" : duration(all.averageResponseTimeMs))} />
      <Fact wide label="Where messages went" value={all && <ShareBar patterns={all.routingPatterns} name={name} of={of} />} />
    </Rail>
  );
}

/** Most parts that have a name; the others are one. */
const NAMED = 6;

function ShareBar({ patterns, name, of }: { patterns: Metrics["dashboard"]["routingPatterns"]; name: (id: string) => string; of: (id: string) => Agent | undefined }) {
  if (patterns.length === 0) return <span className="muted agent-share-none">no messages yet</span>;
  const named = patterns.slice(0, NAMED);
  const rest = patterns.slice(NAMED).reduce((sum, one) => sum + one.count, 0);
  const parts = named.map((one) => ({ id: one.agentId, name: one.agentId === "finalize" ? "none" : name(one.agentId), count: one.count, color: of(one.agentId)?.color ?? "var(--n7)" }));
  if (rest > 0) parts.push({ id: "others", name: "others", count: rest, color: "var(--n9)" });
  return (
    <span className="agent-share">
      {parts.map((one) => (
        <span key={one.id} style={{ flexGrow: one.count, borderTopColor: one.color }} title={`${one.name}: ${count(one.count)}`}>
          {one.name} <b>{count(one.count)}</b>
        </span>
      ))}
    </span>
  );
}

/** Removes the agents that were registered at run time; says which before. */
function Cleanup({ agents }: { agents: readonly Agent[] }) {
  const [asks, setAsks] = useState(false);
  const runtime = agents.filter((agent) => agent.is_runtime);
  const remove = async () => {
    const { cleanedUp } = await api.post<{ cleanedUp: string[] }>("/api/agents/cleanup");
    toast(`Removed ${plural(cleanedUp.length, "runtime agent")}.`);
    touch("/api/agents/");
  };
  if (runtime.length === 0) return null;
  const what = plural(runtime.length, "runtime agent");
  return (
    <>
      <Button onClick={() => setAsks(true)}>Remove {what}</Button>
      {asks && (
        <Confirm title={`Remove ${what}?`} action="Remove" danger act={remove} onClose={() => setAsks(false)}>
          <ul className="cleanup-list">
            {runtime.slice(0, 20).map((agent) => (
              <li key={agent.id} className="row">
                <span className="ell">{agent.name}</span> <span className="mono muted">{agent.id}</span>
              </li>
            ))}
            {runtime.length > 20 && <li className="muted">and {runtime.length - 20} more</li>}
          </ul>
          <p className="muted">Built-in and kept agents stay, and so does the history.</p>
        </Confirm>
      )}
    </>
  );
}

/** Most agents that are listed; Manage has all. */
const MOST = 50;

/** Every agent with how it fares; the text of the picture. */
function AgentsTable({ agents, metrics }: { agents: readonly Agent[]; metrics: Resource<Metrics> }) {
  const known = useMemo(() => agents.filter((agent) => agent.status !== "archived"), [agents]);
  return (
    <section className="agents-table" aria-labelledby="agents-table">
      <h2 id="agents-table">Agents</h2>
      <Loaded of={metrics}>{(facts) => <Table agents={known} facts={facts} />}</Loaded>
      {known.length > MOST && (
        <p className="small muted padded">
          {`The first ${MOST} of ${count(known.length)}. `}
          <TextLink href="/agents/manage">All agents</TextLink>
        </p>
      )}
    </section>
  );
}

/** Drawn anew only when the agents or the numbers are others, not while a message is typed. */
const Table = memo(function Table({ agents, facts }: { agents: readonly Agent[]; facts: Metrics }) {
  const of = new Map(facts.agents.map((one) => [one.agentId, one]));
  return (
    <table className="table">
      <TableHead columns={["Agent", ["Runs", "figure"], ["Average", "figure"], ["Success", "figure"]]} />
      <tbody>
        {agents.slice(0, MOST).map((agent) => {
          const one = of.get(agent.id);
          return (
            <tr key={agent.id}>
              <td>
                <Link className="row agents-table-name" href={`/agents/manage?agent=${encodeURIComponent(agent.id)}`}>
                  <Monogram agent={agent} />
                  <span className={agent.status === "active" ? "ell" : "ell muted"}>{agent.name}</span>
                  <span className={agent.status === "active" ? "small muted agents-table-role" : "small muted"}>
                    {agent.status === "active" ? (agent.is_runtime ? "runtime" : agent.role) : agent.status}
                  </span>
                </Link>
              </td>
              <td className="figure">{one?.executionCount ?? 0}</td>
              <td className="figure">{one?.averageExecutionTimeMs == null ? NONE : duration(one.averageExecutionTimeMs)}</td>
              <td className="figure">{one?.successRate == null ? NONE : percent(one.successRate, 1)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
});

const NONE = <span className="muted">none</span>;
