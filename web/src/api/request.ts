// The only place that speaks HTTP, apart from the stream of events.
import { Failure, failureOf } from "./failure";
import { answered, unanswered } from "./connection";

export interface Ask {
  signal?: AbortSignal;
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
    throw failure;
  }
  ask.heard?.(response.headers);
  return answer as T;
}

async function send(method: string, path: string, body: unknown, ask: Ask): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...ask.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: ask.signal ?? null,
      credentials: "same-origin",
    });
    answered();
    return response;
  } catch (fault) {
    if (fault instanceof DOMException && fault.name === "AbortError") throw fault;
    unanswered();
    throw new Failure("cleo is not answering.", 0, null, "cleo serve");
  }
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return null;
  if (!response.headers.get("content-type")?.includes("json")) return { message: text };
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Failure("The answer of cleo is not whole JSON.", response.status);
  }
}

/** Only paths of our own go into `next`, so that nobody can send people elsewhere through it. */
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
