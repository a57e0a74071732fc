import { useCallback, useMemo, useRef } from "react";
import { AgentCRUDPanel } from "../../agents/AgentCRUDPanel";
import { useAgents, useMetrics } from "../../agents/data";
import { Monogram } from "../../agents/Monogram";
import { kindOf } from "../../agents/names";
import type { Agent } from "../../agents/types";
import { Id } from "../../format";
import { Button } from "../../parts/Button";
import { Absent, Empty, Loaded } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { Link } from "wouter";
import { navigate, usePlace, useQuery, withQuery } from "../../router/location";
import { useKeys } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { Panel, Split } from "../../shell/Panel";
import { Filters, filtered } from "./Filters";
import { ManageTable } from "./ManageTable";
import "./manage.css";

export default function Manage() {
  const { resource, agents, of, name } = useAgents();
  const metrics = useMetrics();
  const { query } = usePlace();
  const [status] = useQuery("status");
  const [words] = useQuery("q");
  const list = useMemo(() => filtered(agents, status, words ?? ""), [agents, status, words]);
  const opener = useRef<HTMLElement | null>(null);
  const id = query.get("agent");
  const isNew = id === null && query.get("edit") === "1";
  const close = () => {
    go({ agent: null, edit: null });
    requestAnimationFrame(() => opener.current?.focus());
  };
  const open = useCallback((agent: Agent) => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    go({ agent: agent.id, edit: null });
  }, []);
  const create = () => go({ agent: null, edit: "1" });
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
    { keys: "/", does: "Find an agent", run: () => document.getElementById("find-agent")?.focus() },
  ]);
  const saved = (kept: string) => {
    toast(isNew ? "Created." : "Saved.");
    go({ agent: kept, edit: null });
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
      rail={<Filters agents={agents} known={resource.data !== undefined} />}
    >
      <Split
        panel={
          isNew ? (
            <NewPanel agents={agents} onSaved={saved} onClose={close} />
          ) : (
            id !== null && <AgentPanel agent={of(id)} id={id} resource={resource} agents={agents} onSaved={saved} onClose={close} />
          )
        }
      >
        <div className="pane">
          <Loaded of={resource}>
            {() =>
              agents.length === 0 ? (
                <Empty action={<Button onClick={create}>New agent</Button>} command="cleo agents register 'Lore keeper' --tag warcraft,lore,'second war' --prompt 'You know Azeroth.'">
                  No agents. One gets messages as soon as it is made.
                </Empty>
              ) : list.length === 0 ? (
                <Empty
                  action={
                    <Link className="link" href={withQuery({ status: null, q: null })} replace>
                      Show all agents
                    </Link>
                  }
                >
                  No agent fits this filter.
                </Empty>
              ) : (
                <ManageTable list={list} metrics={metrics.data} selected={id} onOpen={open} name={name} />
              )
            }
          </Loaded>
        </div>
      </Split>
    </Page>
  );
}

function go(changes: Record<string, string | null>) {
  navigate(withQuery(changes));
}

type PanelProps = { agents: readonly Agent[]; onSaved: (id: string) => void; onClose: () => void };

function NewPanel({ agents, onSaved, onClose }: PanelProps) {
  return (
    <Panel label="New agent" title="New agent" onClose={onClose}>
      <AgentCRUDPanel key="new" agent={null} agents={agents} onSaved={onSaved} onClose={onClose} />
    </Panel>
  );
}

function AgentPanel({ agent, id, resource, agents, onSaved, onClose }: PanelProps & { agent: Agent | undefined; id: string; resource: ReturnType<typeof useAgents>["resource"] }) {
  if (!agent)
    return (
      <Panel label="Agent" title={id} onClose={onClose}>
        <Loaded of={resource}>
          {() => (
            <Absent id={id}>
              <Button onClick={onClose}>Back to the list</Button>
            </Absent>
          )}
        </Loaded>
      </Panel>
    );
  const above = (
    <>
      <Monogram agent={agent} />
      <Id value={agent.id} />
      <span className="small muted">{kindOf(agent.kind)}</span>
    </>
  );
  return (
    <Panel label={`Agent ${agent.name}`} title={agent.name} above={above} onClose={onClose}>
      <AgentCRUDPanel key={agent.id} agent={agent} agents={agents} onSaved={onSaved} onClose={onClose} />
    </Panel>
  );
}
