/** What the server says of agents. Times are RFC 3339 in UTC. */

export type AgentStatus = "active" | "paused" | "archived";
export type AgentRole = "supervisor" | "specialist" | "custom";

/** An agent of the registry. */
export interface Agent {
  id: string;
  kind: "builtin" | "runtime" | "persistent" | "http" | "cli";
  name: string;
  description: string;
  role: AgentRole;
  objective: string;
  prompt: string;
  model: string;
  temperature: number;
  maxTokens: number;
  color: string;
  icon: string;
  tags: string[];
  tools: string[];
  endpoint: string | null;
  command: string[];
  status: AgentStatus;
  isRuntime: boolean;
  isBuiltin: boolean;
  createdAt: string | null;
  updatedAt: string | null;
  lastUsedAt: string | null;
  /** When an agent of the moment is removed. */
  expiresAt?: string | null;
  /** The file that says so. */
  file?: string;
  /** Whether a worker may be called. */
  standing?: "trusted" | "changed" | "untrusted";
  /** How many executions it had. */
  executions: number;
}

/** An agent that could have been chosen; `score` is `base` and `tagBoost` together. */
export interface Candidate {
  id: string;
  score: number;
  base: number;
  tagBoost: number;
  matchedTerms: string[];
  matchedTags: string[];
}

/** Where a message goes, and why. */
export interface Decision {
  agent: string;
  decided: "matched" | "requested" | "finalize" | "clarify";
  score: number;
  reason: string;
  margin: number | null;
  runnerUp: { id: string; score: number } | null;
  question?: string;
  terms: string[];
  candidates?: Candidate[];
  /** How many candidates there are, also those that are not listed. */
  total: number;
}

export interface NotScored {
  id: string;
  name: string;
  why: "paused" | "archived" | "supervisor";
}

/** The answer of the router. */
export interface Routed {
  route: Decision;
  notScored: NotScored[];
  /** How long the router took, in microseconds. */
  tookUs: number;
}

export interface Delegation {
  cursor: number;
  executionId: string;
  from: string;
  to: string;
  reason: string;
  score: number;
  query: string;
  timestamp: string;
}

export type ExecutionStatus = "pending" | "running" | "completed" | "failed" | "cancelled" | "interrupted";

export interface Step {
  id: string;
  timestamp: string;
  agent: string;
  action: "analyzing" | "thinking" | "responding" | "delegating" | "completing" | "routing";
  content: string;
  progress: number;
  metadata: Record<string, unknown>;
}

export interface Execution {
  id: string;
  agentId: string;
  status: ExecutionStatus;
  startTime: string;
  endTime: string | null;
  input: string;
  output: string | null;
  /** What a model has said so far, while its answer comes; left out in lists. */
  partial?: string;
  /** The agent that it went to; none when no agent fits. */
  delegatedTo: string | null;
  routing: { by: "rule" | "requested"; score: number; reason: string };
  answeredBy: "model" | "worker" | "offline" | null;
  model: string | null;
  conversationId: string | null;
  error: string | null;
  metrics: {
    totalTokens: number | null;
    inputTokens: number | null;
    outputTokens: number | null;
    executionTime: number | null;
    cost: number | null;
  };
  /** Left out in lists. */
  steps?: Step[];
}

/** Executions of the last 24 hours. */
export interface Spread {
  executions: number;
  failed: number;
  /** How many were answered by a model or a worker. */
  answered: number;
  medianMs: number | null;
  p95Ms: number | null;
}

export interface Metrics {
  dashboard: {
    activeAgents: number;
    totalAgents: number;
    completedExecutions: number;
    failedExecutions: number;
    cancelledExecutions: number;
    runningExecutions: number;
    totalExecutions: number;
    averageResponseTimeMs: number | null;
    successRate: number | null;
    routingPatterns: { agentId: string; count: number; share: number }[];
    window: Spread & { since: string; hours: { at: string; executions: number; failed: number }[]; isWhole: boolean };
  };
  agents: {
    agentId: string;
    name: string;
    executionCount: number;
    averageExecutionTimeMs: number | null;
    successRate: number | null;
    lastUsedAt: string | null;
    window: Spread;
  }[];
}

/** A conversation. `chat` is with the agents for designs and components. */
export interface Conversation {
  id: string;
  agent_id: string;
  title: string | null;
  kind: "agent" | "chat";
  status: "active" | "archived";
  created_at: string;
  updated_at: string;
  last_message_at: string;
  /** Whether a question waits for its answer. */
  waiting?: boolean;
}

export interface ToolCalled {
  name: string;
  args: Record<string, unknown>;
  result: unknown;
}

export interface Said {
  id: string;
  type: "user" | "agent" | "system";
  content: string;
  metadata: {
    sender?: string;
    answeredBy?: string | null;
    agent?: string;
    reason?: string;
    error?: string;
    tool_calls?: ToolCalled[];
    pending?: Pending | null;
    settled?: Settled | null;
  };
  execution_id: string | null;
  created_at: string;
}

/** A value that a yes would change. */
export interface Change {
  label: string;
  before: string | null;
  after: string;
}

/** A component that can be chosen. */
export interface Choosable {
  id: string;
  type: string;
  title: string;
}

/** What waits for a yes or a choice. */
export interface Pending {
  kind: "confirm" | "select";
  agent: string;
  tool: string;
  args: Record<string, unknown>;
  candidates: string[];
  options: Choosable[];
  changes: Change[];
  destructive: boolean;
  created_at?: string;
  createdAt?: string;
  expires: string;
}

/** What became of what waited before a message. */
export type Settled = "confirmed" | "chosen" | "cancelled" | "dropped" | "expired";

export interface Talk {
  conversation: Conversation;
  messages: Said[];
  total: number;
  pending: Pending | null;
}

/** An answer of the chat for designs and components. */
export interface Turn {
  agent: string;
  reply: string;
  conversation_id: string;
  tool_calls: ToolCalled[];
  pending: Pending | null;
  settled: Settled | null;
  reason: string;
}

export type TaskStatus = "todo" | "doing" | "review" | "done" | "paused" | "cancelled";
export type TaskPriority = "low" | "medium" | "high" | "urgent";

export interface AgentTask {
  id: string;
  title: string;
  description: string;
  status: TaskStatus;
  priority: TaskPriority;
  assigned_to: string | null;
  due_date: string | null;
  estimated_hours: number | null;
  tags: string[];
  feature: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface TaskStats {
  total: number;
  byStatus: Record<TaskStatus, number>;
  byPriority: Record<TaskPriority, number>;
  overdue: number;
  completionRate: number;
}
