import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { AgentCRUDPanel } from "../../agents/AgentCRUDPanel";
import { useAgents, useMetrics, Monogram, kindOf } from "../../agents/agents";
import type { Agent, AgentStatus } from "../../api/types";
import { Id } from "../../format";
import { Button } from "../../parts/Button";
import { Absent, Empty, Loaded, NoneFits } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { navigate, usePlace, useQuery, withQuery } from "../../router";
import { useKeys } from "../../shell/keys";
import { Page, Panel, Split } from "../../shell/Page";
import { ManageTable } from "./ManageTable";
import { Filters } from "../../parts/Filters";
import "./manage.css";

export default function Manage() {
  const { resource, agents, of } = useAgents();
  const metrics = useMetrics();
  const { query } = usePlace();
  const [status] = useQuery("status");
  const [words] = useQuery("q");
  const list = useMemo(() => filtered(agents, status, words ?? ""), [agents, status, words]);
  const opener = useRef<HTMLElement | null>(null);
  const id = query.get("agent");
  const isNew = id === null && query.get("edit") === "1";
  const close = () => {
    navigate(withQuery({ agent: null, edit: null }));
    requestAnimationFrame(() => opener.current?.focus());
  };
  const open = useCallback((agent: Agent) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    navigate(withQuery({ agent: agent.id, edit: null }));
  }, []);
  const create = () => navigate(withQuery({ agent: null, edit: "1" }));
  const walk = (step: number) => {
    const at = list.findIndex((agent) => agent.id === id);
    const next = list[Math.min(list.length - 1, Math.max(0, at + step))];
    if (next) navigate(withQuery({ agent: next.id, edit: null }), { replace: id !== null });
  };
  useKeys("Manage agents", [
    { keys: "N", does: "New agent", run: create },
    { keys: "J|ArrowDown", does: "Next agent", run: () => walk(1) },
    { keys: "K|ArrowUp", does: "Agent before", run: () => walk(-1) },
    { keys: "Escape", does: "Close the panel", run: close },
  ]);
  const [part, setPart] = useState<string | null>(null);
  useEffect(() => setPart(null), [id]);
  const saved = (kept: string, field: string | null) => {
    if (isNew) setPart(field);
    toast(isNew ? "Created." : "Saved.");
    navigate(withQuery({ agent: kept, edit: null }));
  };
  return (
    <Page
      title="Manage"
      crumbs={[{ label: "Agents", href: "/agents" }]}
      actions={
        <Button look={isNew ? undefined : "primary"} icon="plus" shortcut="N" onClick={create}>
          New agent
        </Button>
      }
      rail={
        <div className="head-bars">
          <Filters
            what="agent"
            filters={[{ name: "status", label: "Status", values: STATUSES.map((value) => ({ value, label: `${value}, ${agents.filter((agent) => agent.status === value).length}` })) }]}
          />
        </div>
      }
    >
      <Split panel={(isNew || id !== null) && <AgentPanel agent={of(id)} id={id} part={isNew ? "name" : part} resource={resource} agents={agents} onSaved={saved} onClose={close} />}>
        <div className="pane">
          <Loaded of={resource}>
            {() =>
              agents.length === 0 ? (
                <Empty action={<Button onClick={create}>New agent</Button>} command="cleo agents register 'Lore keeper' --tag warcraft,lore,'second war' --prompt 'You know Azeroth.'">
                  No agents. One gets messages as soon as it is made.
                </Empty>
              ) : list.length === 0 ? (
                <NoneFits what="agent" all={withQuery({ status: null, q: null })} />
              ) : (
                <ManageTable list={list} metrics={metrics.data} selected={id} onOpen={open} />
              )
            }
          </Loaded>
        </div>
      </Split>
    </Page>
  );
}

interface PanelProps {
  agent: Agent | undefined;
  /** None for a new one. */
  id: string | null;
  part: string | null;
  resource: ReturnType<typeof useAgents>["resource"];
  agents: readonly Agent[];
  onSaved: (id: string, field: string | null) => void;
  onClose: () => void;
}

function AgentPanel({ agent, id, part, resource, agents, onSaved, onClose }: PanelProps) {
  if (id !== null && !agent)
    return (
      <Panel label="Agent" title={id} onClose={onClose}>
        <Loaded of={resource}>{() => <Absent id={id} back={<Button onClick={onClose}>Back to the list</Button>} />}</Loaded>
      </Panel>
    );
  const above = agent && (
    <>
      <Monogram agent={agent} />
      <Id value={agent.id} />
      <span className="small muted">{kindOf(agent.kind)}</span>
    </>
  );
  return (
    <Panel label={agent ? `Agent ${agent.name}` : "New agent"} title={agent?.name ?? "New agent"} above={above} onClose={onClose}>
      <AgentCRUDPanel key={agent?.id ?? "new"} agent={agent ?? null} agents={agents} part={part} onSaved={onSaved} onClose={onClose} />
    </Panel>
  );
}

const STATUSES: AgentStatus[] = ["active", "paused", "archived"];

/** The agents that a filter leaves: by status, and by words of the name, the id and the tags. */
function filtered(agents: readonly Agent[], status: string | null, words: string): Agent[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return agents.filter((agent) => {
    if (status !== null && agent.status !== status) return false;
    const text = [agent.name, agent.id, agent.description, ...agent.tags].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
