import { useState } from "react";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { useAgents } from "../../agents/data";
import { useHearing } from "../../agents/pieces";
import type { Conversation } from "../../agents/types";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { Link } from "wouter";
import { navigate } from "../../router/location";
import type { ViewProps } from "../../routes";
import { useKeys } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { ConversationList } from "./ConversationList";
import { NewTalk } from "./NewTalk";
import { Thread } from "./Thread";
import "./chat.css";

/** How many conversations come at once. */
const PAGE = 50;

export default function Chat({ params }: ViewProps) {
  const id = params["id"] ?? null;
  const registry = useAgents();
  useHearing();
  const [most, setMost] = useState(PAGE);
  const talks = useResource<{ conversations: Conversation[]; total: number }>(path("/api/conversations", { limit: most, status: "active" }), {
    on: (event) => event.kind === "conversation",
    keep: true,
  });
  const list = talks.data?.conversations ?? [];
  const current = list.find((one) => one.id === id);
  const walk = (step: number) => {
    const next = list[list.findIndex((one) => one.id === id) + step];
    if (next) navigate(`/agents/chat/${next.id}`);
  };
  useKeys("Chat", [
    { keys: "N", does: "New conversation", run: () => navigate("/agents/chat") },
    { keys: "J", does: "Next conversation", run: () => walk(1) },
    { keys: "K", does: "Conversation before", run: () => walk(-1) },
  ]);
  return (
    <Page
      title={id === null ? "Chat" : (current?.title ?? "Conversation")}
      crumbs={
        id === null
          ? [{ label: "Agents", href: "/agents" }]
          : [
              { label: "Agents", href: "/agents" },
              { label: "Chat", href: "/agents/chat" },
            ]
      }
      actions={
        id !== null && (
          <Link className="button" href="/agents/chat">
            <Icon name="plus" />
            New
          </Link>
        )
      }
    >
      <div className={id === null ? "chat" : "chat reading"}>
        <nav className="chat-list" aria-label="Conversations">
          <ConversationList talks={talks} current={id} name={registry.name} />
          {talks.data && talks.data.total > list.length && (
            <p className="chat-more">
              <Button small onClick={() => setMost(most + PAGE)}>
                Show older
              </Button>
            </p>
          )}
        </nav>
        {id === null ? <NewTalk agents={registry.agents} known={registry.resource.data !== undefined} /> : <Thread key={id} id={id} registry={registry} />}
      </div>
    </Page>
  );
}
