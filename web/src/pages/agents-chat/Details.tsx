import type { Execution, Talk } from "../../agents/types";
import { Cost, Id, Tokens } from "../../format";
import { plural } from "../../format/numbers";
import { Ago } from "../../format";

/** What a conversation used, folded. Sums are of the answers that are known here, and say so. */
export function Details({ talk, executions }: { talk: Talk; executions: readonly Execution[] }) {
  const { conversation, messages, total } = talk;
  const mine = executions.filter((one) => one.conversationId === conversation.id);
  const calls = messages.flatMap((one) => one.metadata.tool_calls ?? []);
  return (
    <details className="thread-details">
      <summary className="button ghost small">Details</summary>
      <dl className="facts">
        <dt>Conversation</dt>
        <dd>
          <Id value={conversation.id} />
        </dd>
        <dt>Begun</dt>
        <dd>
          <Ago at={conversation.created_at} />
        </dd>
        <dt>Messages</dt>
        <dd>{total}</dd>
        <dt>Tools called</dt>
        <dd>{plural(calls.length, "call")} in what is shown</dd>
        {conversation.kind === "agent" && (
          <>
            <dt>Tokens</dt>
            <dd>
              <Tokens n={sum(mine.map((one) => one.metrics.totalTokens))} /> <Source mine={mine} of={(one) => one.metrics.totalTokens} />
            </dd>
            <dt>Cost</dt>
            <dd>
              <Cost usd={sum(mine.map((one) => one.metrics.cost))} /> <Source mine={mine} of={(one) => one.metrics.cost} />
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** A sum; nothing when nobody counted. */
function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((all, one) => all + one, 0);
}

function Source({ mine, of }: { mine: readonly Execution[]; of: (one: Execution) => number | null }) {
  const known = mine.filter((one) => of(one) !== null).length;
  return <span className="muted small">{`reported by ${known} of ${plural(mine.length, "answer")}`}</span>;
}
