/** Who coordinates; to ask for it is to be routed. */
export const SUPERVISOR = "cleo-supervisor";
/** What answers where no agent fits. */
export const FINALIZE = "finalize";
/** With whom conversations about designs and components are. */
export const CHAT = "chat";

/** The agents of such conversations, as they are called. */
export const CHAT_AGENTS: Record<string, string> = { design: "Design", editor: "Editor", clarifier: "Clarifier" };

const ROLES: Record<string, string> = { supervisor: "supervisor", specialist: "specialist", custom: "custom" };
const KINDS: Record<string, string> = { builtin: "built in", runtime: "runtime", persistent: "kept", http: "HTTP worker", cli: "program" };

export function roleOf(role: string): string {
  return ROLES[role] ?? role;
}

export function kindOf(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** What an answer of nobody begins with. */
const OFFLINE = "[offline]";

/** The text of an answer without the mark of one that nobody gave. */
export function bareOutput(output: string): string {
  return output.startsWith(OFFLINE) ? output.slice(OFFLINE.length).trimStart() : output;
}
