import { useState } from "react";
import { Icon } from "../parts/Icon";
import { Explained } from "./Explained";
import type { Agent, Execution } from "./types";
import "./message.css";

type Props = {
  execution: Pick<Execution, "input" | "delegatedTo" | "routing" | "agentId">;
  agents: readonly Agent[];
};

/** Between two messages: to whom the first was handed. It opens to the reasons. */
export function DelegationLine({ execution, agents }: Props) {
  const [open, setOpen] = useState(false);
  const { delegatedTo, routing } = execution;
  const to = delegatedTo ?? "finalize";
  const name = agents.find((one) => one.id === to)?.name ?? to;
  const isAsked = routing.by === "requested";
  return (
    <details className="delegation" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="chevron">
          <Icon name="right" />
        </span>
        <span>
          → <b>{name}</b>
          {isAsked ? ", asked for" : `, score ${routing.score}`}
        </span>
      </summary>
      {open && (
        <div className="body">
          <Explained delegation={{ to, score: routing.score, reason: routing.reason }} message={execution.input} requested={isAsked ? (delegatedTo ?? undefined) : undefined} agents={agents} />
        </div>
      )}
    </details>
  );
}
