// What can be done with a task, and which of it makes sense in its state.
import { useState } from "react";
import type { Posted } from "../../api/answers";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import { toast } from "../../parts/toasts";
import type { State } from "../../parts/state";

export type Act = "start" | "complete" | "reopen" | "claim" | "release" | "cancel";

export const ACTS: Record<Act, { label: string; done: string; cli: string; from: State[] }> = {
  start: { label: "Start", done: "started", cli: "start", from: ["ready", "failed", "paused"] },
  complete: { label: "Complete", done: "completed", cli: "complete", from: ["running", "verifying", "review", "needsYou", "ready", "failed"] },
  reopen: { label: "Reopen", done: "reopened", cli: "reopen", from: ["done", "cancelled"] },
  claim: { label: "Claim", done: "claimed", cli: "claim", from: ["ready", "running", "failed"] },
  release: { label: "Release the claim", done: "released", cli: "release", from: ["running", "verifying", "review", "failed", "ready"] },
  cancel: { label: "Cancel the task", done: "cancelled", cli: "cancel", from: ["waiting", "ready", "failed", "paused", "needsYou", "running"] },
};

/** Acts that take or end no claim. The server never undoes a claim. */
export const UNDOABLE: readonly Act[] = ["reopen", "cancel", "complete"];

/** Does it, says so with Undo, and gives back what the server refused. */
export async function act(id: string, what: Act): Promise<Failure | null> {
  try {
    const { operation } = await api.post<Posted<"/api/work/tasks/{id}/complete">>(`/api/work/tasks/${encodeURIComponent(id)}/${what}`);
    touch("/api/work/");
    toast(`${id} ${ACTS[what].done}.`, operation === null || !UNDOABLE.includes(what) ? undefined : { label: "Undo", run: () => void undo(operation) });
    return null;
  } catch (fault) {
    if (fault instanceof Failure) return fault;
    throw fault;
  }
}

/** Undoes operations, the last first. */
export async function undo(...operations: number[]) {
  try {
    for (const operation of operations) await api.post("/api/work/undo", { operation });
  } catch (fault) {
    toast(fault instanceof Failure ? `Not undone: ${fault.message}` : "Not undone.");
  }
  touch("/api/work/");
}

export function useAct(id: string) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  async function run(what: Act) {
    setBusy(true);
    setFailure(await act(id, what));
    setBusy(false);
  }
  return { run, failure, busy, clear: () => setFailure(null) };
}
