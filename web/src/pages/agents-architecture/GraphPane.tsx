import { useMemo, useState } from "react";
import type { Resource } from "../../api/resource";
import { picture } from "../../agents/graph";
import { ScoreView } from "../../agents/ScoreView";
import type { Agent, Metrics, Routed } from "../../api/types";
import { useNow, millis } from "../../format";
import { Button } from "../../parts/Button";
import { phone, useMatch } from "../../parts/screen";
import { later } from "../../parts/later";
import { Ghost, Trouble } from "../../parts/States";

const AgentGraph = later(() => import("../../agents/AgentGraph"), <Ghost />);

interface Props {
  resource: Resource<unknown>;
  agents: readonly Agent[];
  metrics: Metrics | undefined;
  routed: Routed | null;
  live: ReadonlySet<string>;
  message: string;
  onOpen: (id: string) => void;
}

/** The picture of the agents; on a phone the same as rows. */
export function GraphPane(props: Props) {
  const isPhone = useMatch(phone);
  if (props.resource.failure && props.agents.length === 0) return <Trouble failure={props.resource.failure} retry={props.resource.reload} />;
  if (props.resource.data === undefined) return <Ghost rows={6} />;
  return isPhone ? <Narrow {...props} /> : <Drawn {...props} />;
}

/** On a phone the rows come first; the picture is there for whoever asks for it. */
function Narrow(props: Props) {
  const [drawn, setDrawn] = useState(false);
  return (
    <>
      <Rows {...props} />
      <p className="architecture-flow">
        <Button small aria-expanded={drawn} onClick={() => setDrawn(!drawn)}>
          {drawn ? "Hide graph" : "Graph"}
        </Button>
      </p>
      {drawn && <Drawn {...props} />}
    </>
  );
}

function Drawn({ agents, metrics, routed, live, onOpen }: Props) {
  const [selected, setSelected] = useState<string | null>(null);
  const minute = Math.floor(useNow() / 60_000);
  const drawing = useMemo(() => picture({ agents, metrics, routed, live, left: (agent) => leftOf(agent, minute * 60_000) }), [agents, metrics, routed, live, minute]);
  return (
    <div className="architecture-graph" role="region" aria-label="Graph of agents">
      <AgentGraph picture={drawing} selected={selected} onSelect={setSelected} onOpen={onOpen} />
    </div>
  );
}

function leftOf(agent: Agent, now: number): string | null {
  if (!agent.is_runtime) return null;
  if (!agent.expires_at) return "runtime";
  const left = Math.floor((millis(agent.expires_at) - now) / 60_000);
  return left < 1 ? "runtime, under 1 min left" : `runtime, ${left} min left`;
}

function Rows({ agents, routed, message }: Props) {
  if (!routed) return <p className="small muted architecture-flow">Type a message to see which agent it reaches.</p>;
  return (
    <div className="architecture-flow">
      <ScoreView message={message} decision={routed.route} agents={agents} left={routed.notScored} />
    </div>
  );
}
