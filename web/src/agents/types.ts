/** What the server says of agents. Times are RFC 3339 in UTC. */

import type { Got, Posted } from "../api/answers";

/** An agent of the registry. */
export type Agent = Got<"/api/agents/list">["agents"][number];
export type AgentStatus = Agent["status"];

/** The answer of the router: where a message goes, and why. */
export type Routed = Posted<"/api/route">;
export type Decision = Routed["route"];
/** An agent that could have been chosen; `score` is `base` and `tagBoost` together. */
export type Candidate = NonNullable<Decision["candidates"]>[number];
export type NotScored = Routed["notScored"][number];

export type Delegation = Got<"/api/agents/delegations">["delegations"][number];
export type Execution = Got<"/api/agents/execution/{id}">["execution"];
export type Step = NonNullable<Execution["steps"]>[number];
export type Metrics = Got<"/api/agents/metrics">;

/** A conversation. `chat` is with the agents for designs and components. */
export type Conversation = Got<"/api/conversations/{id}">["conversation"] & { waiting?: boolean };

/** An answer of the chat for designs and components. */
type Turn = Posted<"/api/chat">["response"]["data"];
export type ToolCalled = Turn["tool_calls"][number];
/** What waits for a yes or a choice. */
export type Pending = NonNullable<Turn["pending"]>;
/** A value that a yes would change. */
export type Change = Pending["changes"][number];
/** A component that can be chosen. */
export type Choosable = Pending["options"][number];

export type Talk = Omit<Got<"/api/conversations/{id}">, "messages"> & { messages: Said[] };
export type Said = Omit<Got<"/api/conversations/{id}">["messages"][number], "metadata"> & {
  metadata: {
    sender?: string;
    answeredBy?: string | null;
    agent?: string;
    reason?: string;
    error?: string;
    tool_calls?: ToolCalled[];
    pending?: Pending | null;
    settled?: Turn["settled"];
  };
};

export type TaskStatus = "todo" | "doing" | "review" | "done" | "paused" | "cancelled";
export type TaskPriority = "low" | "medium" | "high" | "urgent";
export type AgentTask = Got<"/api/tasks">["tasks"][number] & { status: TaskStatus; priority: TaskPriority };
export type TaskStats = Got<"/api/tasks/stats">["stats"] & { byStatus: Record<TaskStatus, number>; byPriority: Record<TaskPriority, number> };
