import { Fragment } from "react";
import type { Resource } from "../../api/resource";
import { CHAT, SUPERVISOR } from "../../agents/names";
import type { Conversation } from "../../agents/types";
import { useNow } from "../../format/clock";
import { exact, timeOfDay } from "../../format/time";
import { Empty, Loaded } from "../../parts/States";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";
import { dayOf } from "./thread";

interface Props {
  talks: Resource<{ conversations: Conversation[]; total: number }>;
  current: string | null;
  name: (id: string) => string;
}

/** The conversations by day, that with the last word first. */
export function ConversationList({ talks, current, name }: Props) {
  const now = useNow();
  return (
    <Loaded of={talks}>
      {({ conversations }) =>
        conversations.length === 0 ? (
          <Empty>No conversations yet. Write the first message.</Empty>
        ) : (
          <ul>
            {conversations.map((one, at) => {
              const day = dayOf(one.last_message_at, now);
              const before = conversations[at - 1];
              const isFirst = !before || dayOf(before.last_message_at, now) !== day;
              return (
                <Fragment key={one.id}>
                  {isFirst && <li className="chat-day caption">{day}</li>}
                  <li>
                    <Row one={one} isCurrent={one.id === current} partner={partner(one, name)} />
                  </li>
                </Fragment>
              );
            })}
          </ul>
        )
      }
    </Loaded>
  );
}

/** With whom a conversation is. */
function partner(one: Conversation, name: (id: string) => string): string {
  if (one.kind === "chat" || one.agent_id === CHAT) return "designs and components";
  return one.agent_id === SUPERVISOR ? "routed" : name(one.agent_id);
}

function Row({ one, isCurrent, partner }: { one: Conversation; isCurrent: boolean; partner: string }) {
  return (
    <Link className="chat-row" href={`/agents/chat/${encodeURIComponent(one.id)}`} aria-current={isCurrent ? "page" : undefined}>
      <span className="ell grow">{one.title ?? "Untitled"}</span>
      {one.waiting && <StatusGlyph state="needsYou" label="waits for your answer" />}
      <time className="small muted" dateTime={one.last_message_at} title={exact(one.last_message_at)}>
        {timeOfDay(one.last_message_at).split(" ").at(-1)}
      </time>
      <span className="small muted ell chat-partner">{partner}</span>
    </Link>
  );
}
