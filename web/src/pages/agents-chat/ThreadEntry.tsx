import { DelegationLine } from "../../agents/DelegationLine";
import type { Registry } from "../../agents/data";
import { Message } from "../../agents/Message";
import { bareOutput } from "../../agents/names";
import { ToolCall } from "../../agents/ToolCall";
import type { Execution, Said } from "../../agents/types";
import { timeOfDay } from "../../format/time";
import { Link } from "wouter";
import { chatAgent, senderOf, type Entry } from "./thread";

interface Props {
  entry: Entry;
  registry: Registry;
  execution: Execution | undefined;
  /** Its question waits: the card below says it. */
  isOpen: boolean;
  /** Sends the message again that nobody answered. */
  onRetry: (() => void) | null;
}

/** One message with what belongs to it: the delegation before it, the tools that were called. */
export function ThreadEntry({ entry, registry, execution, isOpen, onRetry }: Props) {
  const { message, continues, outcome } = entry;
  if (message.type === "user") return <Message agent={null} at={message.created_at} continues={continues} text={message.content} />;
  if (message.type === "system") return <SystemLine message={message} onRetry={onRetry} />;
  const calls = message.metadata.tool_calls ?? [];
  const sender = senderOf(message);
  const agent = chatAgent(sender) ?? registry.of(sender) ?? { name: sender || "cleo", color: "" };
  const isOffline = message.metadata.answeredBy === "offline";
  return (
    <>
      {execution && <DelegationLine execution={execution} agents={registry.agents} />}
      {calls.map((call, at) => (
        <ToolCall key={at} call={call} />
      ))}
      {isOffline ? (
        <p className="system-line text">{`No model is configured, so nobody answered. ${bareOutput(message.content)}`}</p>
      ) : (
        !isOpen && <Message agent={agent} at={message.created_at} continues={continues && calls.length === 0} text={outcome ? (message.content.split("\n")[0] ?? "") : message.content} />
      )}
      {outcome && (
        <p className="system-line">
          <span className="text">
            {outcome.text} <time dateTime={outcome.at}>{timeOfDay(outcome.at)}</time>
            {outcome.what !== null && `, ${outcome.what}`}
          </span>
        </p>
      )}
    </>
  );
}

/** What cleo itself says: why nobody answered, and where to look. */
function SystemLine({ message, onRetry }: { message: Said; onRetry: (() => void) | null }) {
  return (
    <p className="system-line bad">
      <span className="text">{message.content}</span>
      {message.execution_id !== null && (
        <Link className="link" href={`/agents/architecture?execution=${encodeURIComponent(message.execution_id)}`}>
          See its steps
        </Link>
      )}
      {onRetry && (
        <button type="button" className="link" onClick={onRetry}>
          Retry
        </button>
      )}
    </p>
  );
}
