import { useState } from "react";
import { useAct } from "../../api/act";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { SUPERVISOR } from "../../agents/names";
import type { Agent, AgentStatus } from "../../agents/types";
import { plural } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { Confirm } from "../../parts/Dialog";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { Trouble } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { navigate } from "../../router/location";

const DONE: Record<AgentStatus, string> = { active: "gets messages again", paused: "is paused", archived: "is archived" };

/** Everything that can be done to an agent. What can be undone is done at once. */
export function AgentMenu({ agent, onOpen }: { agent: Agent; onOpen: () => void }) {
  const [asks, setAsks] = useState(false);
  const where = `/api/agents/${encodeURIComponent(agent.id)}`;
  const {
    run: remove,
    busy,
    failure,
  } = useAct(async () => {
    const { restored } = await api.delete<{ restored: boolean }>(where);
    toast(restored ? `${agent.name} is as it was built.` : `Deleted ${agent.name}.`);
    setAsks(false);
    touch("/api/agents/");
  });
  const restores = agent.isBuiltin && agent.updatedAt !== null;
  const stays = `${plural(agent.executions, "execution")} ${agent.executions === 1 ? "stays" : "stay"} in the history.`;
  return (
    <>
      <Menu
        label={`Actions for ${agent.name}`}
        trigger={<Button look="ghost" small icon="more" aria-label={`Actions for ${agent.name}`} />}
        entries={entries(agent, onOpen, restores, () => setAsks(true))}
      />
      {asks && (
        <Confirm
          title={restores ? `Restore ${agent.name}?` : `Delete agent ${agent.name}?`}
          action={restores ? "Restore" : "Delete"}
          danger
          busy={busy}
          onConfirm={remove}
          onClose={() => setAsks(false)}
        >
          <p>{restores ? `Your changes to it go. ${stays}` : stays}</p>
          {failure && <Trouble failure={failure} />}
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
    : agent.isBuiltin
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
