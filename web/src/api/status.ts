import type { Got } from "./answers";
import { useResource } from "./resource";

export type Status = Got<"/api/status">["status"];
export type Scope = Status["scopes"][number];

/** Who is asked, who asks, and the counts of the sidebar. */
export function useStatus() {
  const { data } = useResource<{ status: Status }>("/api/status", {
    on: (event) => event.kind === "task" || event.kind === "agents" || event.kind === "conversation" || isEndOfRun(event.data["type"]),
  });
  return data?.status;
}

function isEndOfRun(type: unknown) {
  return typeof type === "string" && /^(run\.|execution_(start|end)$)/.test(type);
}
