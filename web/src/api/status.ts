import { useResource } from "./resource";

export type Scope = "read" | "write" | "admin";

export interface Status {
  version: string;
  workspace: { name: string; root: string };
  address: string;
  user: string;
  local: boolean;
  scopes: Scope[];
  tokenNeeded: boolean;
  counts: {
    openTasks: number;
    readyTasks: number;
    liveRuns: number;
    agents: number;
    openAgentTasks: number;
    conversations: number;
  };
}

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
