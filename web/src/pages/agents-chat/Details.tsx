import type { Execution, Talk } from "../../agents/types";
import { Cost, Id, Tokens } from "../../format";
import { plural } from "../../format/numbers";
import { Ago } from "../../format";
import { Term } from "../../parts/Facts";

/** What a conversation used, folded. Sums are of the answers that are known here, and say so. */
export function Details({ talk, executions }: { talk: Talk; executions: readonly Execution[] }) {
  const { conversation, messages, total } = talk;
  const mine = executions.filter((one) => one.conversationId === conversation.id);
  const calls = messages.flatMap((one) => one.metadata.tool_calls ?? []);
  return (
    <details className="thread-details">
      <summary className="button ghost small">Details</summary>
      <dl className="facts">
        <Term name="Conversation">
          <Id value={conversation.id} />
        </Term>
        <Term name="Begun">
          <Ago at={conversation.created_at} />
        </Term>
        <Term name="Messages">{total}</Term>
        <Term name="Tools called">{plural(calls.length, "call")} in what is shown</Term>
        {conversation.kind === "agent" && (
          <>
            <Term name="Tokens">
              <Tokens n={sum(mine.map((one) => one.metrics.totalTokens))} /> <Source mine={mine} of={(one) => one.metrics.totalTokens} />
            </Term>
            <Term name="Cost">
              <Cost usd={sum(mine.map((one) => one.metrics.cost))} /> <Source mine={mine} of={(one) => one.metrics.cost} />
            </Term>
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
