import { memo, useState } from "react";
import { Monogram, kindOf, SUPERVISOR } from "../../agents/agents";
import type { Agent, Metrics, AgentStatus } from "../../api/types";
import { Ago, count, percent, plural } from "../../format";
import { Button } from "../../parts/Button";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { touch } from "../../api/resource";
import { Failure, api } from "../../api/request";
import { Confirm } from "../../parts/Dialog";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { toast } from "../../parts/toasts";
import { navigate } from "../../router";
import { TableHead } from "../../parts/Facts";

interface Props {
  list: readonly Agent[];
  metrics: Metrics | undefined;
  selected: string | null;
  onOpen: (agent: Agent) => void;
}

/** How many rows are added at once. */
const PAGE = 100;

export function ManageTable({ list, metrics, selected, onOpen }: Props) {
  const [most, setMost] = useState(PAGE);
  const of = new Map(metrics?.agents.map((one) => [one.agentId, one]));
  return (
    <>
      <table className="table manage-table">
        <TableHead columns={["Agent", "Role", "Tags", "Model", ["Runs", "figure"], ["Success", "figure"], "Last used", ["Actions", "unseen"]]} />
        <tbody>
          {list.slice(0, most).map((agent) => (
            <Row key={agent.id} agent={agent} success={of.get(agent.id)?.successRate ?? null} isSelected={agent.id === selected} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
      {list.length > most && (
        <p className="padded">
          <Button onClick={() => setMost(most + PAGE)}>{`Show ${Math.min(PAGE, list.length - most)} more of ${list.length}`}</Button>
        </p>
      )}
    </>
  );
}

const Row = memo(function Row({ agent, success, isSelected, onOpen }: { agent: Agent; success: number | null; isSelected: boolean; onOpen: (agent: Agent) => void }) {
  const role = agent.kind === "runtime" || agent.kind === "http" || agent.kind === "cli" ? kindOf(agent.kind) : agent.role;
  return (
    <tr aria-selected={isSelected} onClick={(event) => event.target instanceof Element && !event.target.closest("button, a, [role=menu]") && onOpen(agent)}>
      <td>
        <span className="row manage-name">
          <Monogram agent={agent} />
          <button type="button" className="ell strong" onClick={() => onOpen(agent)}>
            {agent.name}
          </button>
          {agent.status !== "active" && (
            <span className="row small muted manage-status">
              <StatusGlyph state={agent.status === "paused" ? "paused" : "cancelled"} label="" />
              {agent.status}
            </span>
          )}
        </span>
      </td>
      <td className="muted">{role}</td>
      <td className="muted ell manage-tags" title={agent.tags.join(", ")}>
        {agent.tags.slice(0, 3).join(" ")}
        {agent.tags.length > 3 && ` +${agent.tags.length - 3}`}
      </td>
      <td className="mono muted ell">{agent.model}</td>
      <td className="figure">{count(agent.executions)}</td>
      <td className="figure">{success === null ? <span className="muted">none</span> : percent(success, 1)}</td>
      <td className="muted">{agent.last_used_at === null ? "never" : <Ago at={agent.last_used_at} />}</td>
      <td>
        <AgentMenu agent={agent} isSelected={isSelected} onOpen={() => onOpen(agent)} />
      </td>
    </tr>
  );
});

const DONE: Record<AgentStatus, string> = { active: "gets messages again", paused: "is paused", archived: "is archived" };

/** Everything that can be done to an agent. What can be undone is done at once. */
function AgentMenu({ agent, isSelected, onOpen }: { agent: Agent; isSelected: boolean; onOpen: () => void }) {
  const [asks, setAsks] = useState(false);
  const where = `/api/agents/${encodeURIComponent(agent.id)}`;
  const remove = async () => {
    const { restored } = await api.delete<{ restored: boolean }>(where);
    toast(restored ? `${agent.name} is as it was built.` : `Deleted ${agent.name}.`);
    touch("/api/agents/");
  };
  const restores = agent.is_builtin && agent.updated_at !== null;
  const stays = `${plural(agent.executions, "execution")} ${agent.executions === 1 ? "stays" : "stay"} in the history.`;
  return (
    <>
      <Menu
        label={`Actions for ${agent.name}`}
        offer={isSelected ? agent.name : undefined}
        trigger={<Button look="ghost" small icon="more" aria-label={`Actions for ${agent.name}`} />}
        entries={entries(agent, onOpen, restores, () => setAsks(true))}
      />
      {asks && (
        <Confirm title={restores ? `Restore ${agent.name}?` : `Delete agent ${agent.name}?`} action={restores ? "Restore" : "Delete"} danger act={remove} onClose={() => setAsks(false)}>
          <p>{restores ? `Your changes to it go. ${stays}` : stays}</p>
        </Confirm>
      )}
    </>
  );
}

function entries(agent: Agent, onOpen: () => void, restores: boolean, onDelete: () => void): MenuEntry[] {
  const to = (status: AgentStatus, label: string): MenuEntry => ({ label, onSelect: () => void move(agent, status) });
  const moves =
    agent.id === SUPERVISOR ? [] : [...(agent.status === "active" ? [to("paused", "Pause")] : [to("active", "Resume")]), ...(agent.status === "archived" ? [] : [to("archived", "Archive")])];
  const removal: MenuEntry[] = restores
    ? [null, { label: "Restore as built", danger: true, onSelect: onDelete }]
    : agent.is_builtin
      ? [null, "built in, cannot be deleted"]
      : [null, { label: "Delete…", icon: "trash", danger: true, onSelect: onDelete }];
  const chat: MenuEntry = { label: "Start a chat", icon: "chat", onSelect: () => navigate(`/agents/chat?agent=${encodeURIComponent(agent.id)}`) };
  return [{ label: "Edit", icon: "edit", onSelect: onOpen }, chat, ...moves, ...removal];
}

/** Moves an agent to a status; the way back is in the toast. */
async function move(agent: Agent, status: AgentStatus) {
  const put = (to: AgentStatus) => api.put(`/api/agents/${encodeURIComponent(agent.id)}`, { status: to }).then(() => touch("/api/agents/"));
  const told = (fault: unknown) => toast(`Could not change ${agent.name}: ${Failure.from(fault).message}`);
  try {
    await put(status);
    toast(`${agent.name} ${DONE[status]}.`, { label: "Undo", run: () => void put(agent.status).catch(told) });
  } catch (fault) {
    told(fault);
  }
}
