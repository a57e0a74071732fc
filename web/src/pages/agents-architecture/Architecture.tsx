import { useCallback, useEffect, useMemo, useState } from "react";
import { settled, touch } from "../../api/resource";
import { isOver, useAgents, useDelegations, useExecutions, useMetrics } from "../../agents/data";
import { useHearing } from "../../agents/pieces";
import { DelegationTracker } from "../../agents/DelegationTracker";
import { RealTimeExecutionMonitor } from "../../agents/RealTimeExecutionMonitor";
import { useRouted } from "../../agents/routing";
import { Icon } from "../../parts/Icon";
import { Ghost } from "../../parts/States";
import { Tabs } from "../../parts/Tabs";
import { Link } from "wouter";
import { navigate, useQuery, withQuery } from "../../router/location";
import { Page } from "../../shell/Page";
import { offer } from "../../shell/palette";
import { ArchitectureRail } from "./ArchitectureRail";
import { AgentsTable } from "./AgentsTable";
import { Cleanup } from "./Cleanup";
import { Executions } from "./Executions";
import { GraphEvents } from "./GraphEvents";
import { GraphPane } from "./GraphPane";
import { QuickExecute } from "./QuickExecute";
import "./architecture.css";

/** How many of the last executions the numbers of the rail are from. */
const LAST = 100;

export default function Architecture() {
  const { resource, agents, of, name } = useAgents();
  useHearing();
  const metrics = useMetrics();
  const delegations = useDelegations(50);
  const executions = useExecutions(LAST);
  const [message, setMessage] = useState("");
  const [target, setTarget] = useState("");
  const [tab, setTab] = useState("delegations");
  const [shown, show] = useQuery("execution", { push: true });
  const [open, setOpen] = useQuery("delegation");
  const preview = useRouted({ message, agentId: target === "" ? undefined : target });
  const list = executions.data?.executions;
  const isThere = settled(resource, metrics, delegations, executions);
  const running = useMemo(() => (list ?? []).filter((one) => !isOver(one)), [list]);
  const live = useMemo(() => new Set(running.map((one) => one.delegatedTo ?? "finalize")), [running]);
  const watched = shown ?? running[0]?.id ?? null;
  useEffect(() => {
    offer("architecture", [{ label: "Refresh", hint: "asks the server anew", run: () => touch("/api/agents/") }]);
    return () => offer("architecture", []);
  }, []);
  const openAgent = useCallback((id: string) => navigate(id === "more" ? "/agents/manage" : `/agents/manage?agent=${encodeURIComponent(id)}`), []);
  return (
    <Page
      title="Architecture"
      crumbs={[{ label: "Agents", href: "/agents" }]}
      actions={
        isThere && (
          <>
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
      rail={<ArchitectureRail key={String(isThere)} metrics={metrics.data} executions={list} running={running.length} name={name} of={of} />}
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
                <Link className="link" replace href={withQuery({ execution: null })}>
                  Close it
                </Link>
              }
            >
              {shown !== null && running.some((one) => one.id !== shown) && (
                <button type="button" className="link small" onClick={() => show(null)}>
                  Show what runs now
                </button>
              )}
            </RealTimeExecutionMonitor>
          )}
          <AgentsTable agents={agents} metrics={metrics} resource={resource} />
        </aside>
      </div>
    </Page>
  );
}
