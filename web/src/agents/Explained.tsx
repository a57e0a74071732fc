import { useEffect, useState, type ReactNode } from "react";
import { Failure } from "../api/failure";
import { copy } from "../parts/copy";
import { Ghost, Trouble } from "../parts/States";
import { routed } from "./routing";
import { ScoreView } from "./ScoreView";
import type { Agent, Delegation, Routed } from "./types";

interface Props {
  /** What was decided when it ran. */
  delegation: Pick<Delegation, "to" | "score" | "reason">;
  /** The whole message. */
  message: string;
  /** The agent that was asked for. */
  requested?: string | undefined;
  agents: readonly Agent[];
  children?: ReactNode;
}

/** Why a message went where it went: the receipt run again with the agents as they are, and whether
 * it comes to the same. */
export function Explained({ delegation, message, requested, agents, children }: Props) {
  const [again, setAgain] = useState(0);
  const [answer, setAnswer] = useState<Routed | Failure | null>(null);
  useEffect(() => {
    const given = new AbortController();
    routed({ message, agentId: requested }, given.signal).then(setAnswer, (fault: unknown) => {
      if (fault instanceof Failure) setAnswer(fault);
    });
    return () => given.abort();
  }, [message, requested, again]);
  const retry = () => setAgain((now) => now + 1);
  if (answer === null) return <Ghost rows={4} />;
  if (answer instanceof Failure) return <Trouble failure={answer} retry={retry} />;
  return (
    <ScoreView message={message} decision={answer.route} agents={agents} left={answer.notScored}>
      <span>{compared(delegation, answer, agents)}</span>
      <button type="button" className="link" onClick={retry}>
        Replay
      </button>
      <button type="button" className="link" onClick={() => copy(JSON.stringify(answer.route, null, 2), "decision")}>
        Copy as JSON
      </button>
      {children}
    </ScoreView>
  );
}

function compared(then: Props["delegation"], now: Routed, agents: readonly Agent[]): string {
  const name = (id: string) => agents.find((one) => one.id === id)?.name ?? id;
  if (now.route.agent === then.to && now.route.score === then.score) return "Replayed with the agents of now: same result.";
  const was = then.to === "finalize" ? "finalize answered" : `it went to ${name(then.to)} with ${then.score}`;
  return `When it ran, ${was}; the agents have changed since.`;
}
