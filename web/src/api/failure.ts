/** Why the server did not do what was asked, in the server's own words. */
export class Failure extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 when there was no answer at all. */
    readonly status: number,
    readonly code: string | null = null,
    /** A command that can be pasted. */
    readonly fix: string | null = null,
    readonly request: string | null = null,
    readonly detail: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "Failure";
  }

  static from(fault: unknown): Failure {
    return fault instanceof Failure ? fault : new Failure(String(fault), 0);
  }

  get gone() {
    return this.status === 0;
  }

  /** What was asked for by its id does not exist; what is no id is the id of nothing. */
  get absent() {
    return this.status === 404 || this.status === 400;
  }
}

/** Reads every shape in which the server says no. */
export function failureOf(status: number, body: unknown, request: string | null): Failure {
  const all = record(body) ?? {};
  const error = record(all["error"]) ?? record(all["response"]) ?? all;
  const message = text(error["message"]) ?? text(all["error"]) ?? text(all["detail"]) ?? text(all["message"]);
  return new Failure(message ?? `cleo answered with status ${status}.`, status, text(error["code"]), text(error["fix"]), request ?? text(error["requestId"]), error);
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
