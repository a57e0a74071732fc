export interface UsedAgent {
  name: string;
  intent: string | null;
  status: string;
}

export interface Reply {
  answer: string;
  used_agents: UsedAgent[];
  intermediate_results: Record<string, Record<string, unknown>>;
  error: { type: string; message: string } | null;
}

export interface Answered {
  query: string;
  reply: Reply;
  /** None while it is not over. */
  tookMs: number | null;
}
