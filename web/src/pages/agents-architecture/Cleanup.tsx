import { useState } from "react";
import { useAct } from "../../api/act";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import type { Agent } from "../../agents/types";
import { plural } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { Confirm } from "../../parts/Dialog";
import { Trouble } from "../../parts/States";
import { toast } from "../../parts/toasts";

/** Removes the agents that were registered at run time; says which before. */
export function Cleanup({ agents }: { agents: readonly Agent[] }) {
  const [asks, setAsks] = useState(false);
  const runtime = agents.filter((agent) => agent.isRuntime);
  const { run: remove, failure } = useAct(async () => {
    const { cleanedUp } = await api.post<{ cleanedUp: string[] }>("/api/agents/cleanup");
    toast(`Removed ${plural(cleanedUp.length, "runtime agent")}.`);
    setAsks(false);
    touch("/api/agents/");
  });
  if (runtime.length === 0) return null;
  const what = plural(runtime.length, "runtime agent");
  return (
    <>
      <Button onClick={() => setAsks(true)}>Remove {what}</Button>
      {asks && (
        <Confirm title={`Remove ${what}?`} action="Remove" danger onConfirm={remove} onClose={() => setAsks(false)}>
          <ul className="cleanup-list">
            {runtime.slice(0, 20).map((agent) => (
              <li key={agent.id} className="row">
                <span className="ell">{agent.name}</span> <span className="mono muted">{agent.id}</span>
              </li>
            ))}
            {runtime.length > 20 && <li className="muted">and {runtime.length - 20} more</li>}
          </ul>
          <p className="muted">Built-in and kept agents stay, and so does the history.</p>
          {failure && <Trouble failure={failure} />}
        </Confirm>
      )}
    </>
  );
}
