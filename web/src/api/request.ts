// The only place that speaks HTTP, apart from the stream of events.
import { create } from "zustand";

interface Ask {
  headers?: Record<string, string>;
  /** Told what stands above an answer. */
  heard?: (headers: Headers) => void;
}

async function call<T>(method: string, path: string, body: unknown, ask: Ask): Promise<T> {
  const response = await send(method, path, body, ask);
  const answer = await read(response);
  if (!response.ok) {
    const failure = failureOf(response.status, answer, response.headers.get("x-request-id"));
    if (response.status === 401) toSignIn();
    // Another server has this address now. Drafts are kept by workspace, and come back with it.
    if (failure.code === "E_OTHER_WORKSPACE") window.location.reload();
    throw failure;
  }
  ask.heard?.(response.headers);
  return answer as T;
}

/** The workspace of this page, by the name that its server gave it. */
export function workspace() {
  return document.querySelector<HTMLMetaElement>("meta[name=workspace]")?.content ?? "";
}

async function send(method: string, path: string, body: unknown, ask: Ask): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...(workspace() && { "cleo-workspace": workspace() }), ...ask.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    answered();
    return response;
  } catch {
    unanswered();
    throw new Failure("cleo did not answer.", 0, null, "cleo serve");
  }
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return null;
  if (!response.headers.get("content-type")?.includes("json")) return { message: text };
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Failure("The server returned an invalid JSON response.", response.status);
  }
}

/** Only paths of our own go into `next`, so that no link can lead to another site through it. */
function toSignIn() {
  const here = window.location.pathname + window.location.search;
  if (!here.startsWith("/sign-in")) window.location.assign("/sign-in?next=" + encodeURIComponent(here));
}

export const api = {
  get: <T>(path: string, ask: Ask = {}) => call<T>("GET", path, undefined, ask),
  post: <T>(path: string, body: unknown = {}, ask: Ask = {}) => call<T>("POST", path, body, ask),
  put: <T>(path: string, body: unknown, ask: Ask = {}) => call<T>("PUT", path, body, ask),
  patch: <T>(path: string, body: unknown, ask: Ask = {}) => call<T>("PATCH", path, body, ask),
  delete: <T>(path: string, ask: Ask = {}) => call<T>("DELETE", path, undefined, ask),
};

/** A path with a query part; what is null, undefined or empty is left out. */
export function path(base: string, query: Record<string, string | number | boolean | null | undefined> = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? base : `${base}?${text}`;
}

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

export function record(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

export function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export type Line = "connecting" | "live" | "reconnecting" | "polling";

interface Connection {
  line: Line;
  /** Whether the last request was answered at all. */
  reachable: boolean;
  /** When something was last heard, in milliseconds since 1970. */
  heard: number;
}

export const useConnection = create<Connection>()(() => ({ line: "connecting", reachable: true, heard: Date.now() }));

export function answered() {
  const now = Date.now();
  const { reachable, heard } = useConnection.getState();
  if (!reachable || now - heard > 1000) useConnection.setState({ reachable: true, heard: now });
}

export function unanswered() {
  if (useConnection.getState().reachable) useConnection.setState({ reachable: false });
}

export function setLine(line: Line) {
  if (useConnection.getState().line !== line) useConnection.setState({ line });
}
