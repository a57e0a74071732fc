import { useState } from "react";
import { type TaskPage, GATE_NAMES, type GateName } from "../../api/types";
import { Button, Command } from "../../parts/Button";
import { copy } from "../../parts/toasts";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { Trouble } from "../../parts/States";
import { useKeys } from "../../shell/keys";
import { act, ACTS, type Act } from "./rows";
import { useAct, touch, useResource } from "../../api/resource";
import { api, path } from "../../api/request";
import { Confirm, FormDialog } from "../../parts/Dialog";
import { later } from "../../parts/later";
import { navigate, Link } from "../../router";
import { useCommands } from "../../shell/places";
import { Field } from "../../parts/Field";

const RunDialog = later(() => import("./RunDialog"));

/** What can be done with the task now. A refusal stays in place, with what to do about it. */
export function TaskActions({ page }: { page: TaskPage }) {
  const { task, state, claim } = page;
  const [run, { failure, busy, forgive }] = useAct((what: Act) => act(task.id, what));
  const fits = (Object.keys(ACTS) as Act[]).filter((name) => ACTS[name].from.includes(state) && claimFits(name, claim !== null));
  const first = fits.find((name) => name === "complete" || name === "reopen");
  const [asking, setAsking] = useState<"gate" | "dependency" | "run" | "stop" | null>(null);
  const close = () => setAsking(null);
  const last = page.attempts.at(-1);
  const live = page.live ? last?.run : undefined;
  const review = last && `/runs/${encodeURIComponent(last.run)}/${task.id}?attempt=${last.attempt}`;
  const runnable = !page.live && ["ready", "failed", "paused"].includes(state);
  const runLabel = page.attempts.length > 0 ? "Run again" : "Run";
  const command = `cleo spawn ${task.id}`;
  useKeys(`Task ${task.id}`, [{ keys: "C", does: "Copy its command", run: () => copy(command, "command") }]);
  useCommands("task", [
    ...(runnable ? [{ label: `${runLabel} ${task.id}`, cli: `cleo run ${task.id}`, run: () => setAsking("run") }] : []),
    ...(live ? [{ label: `Stop the run of ${task.id}`, cli: `cleo runs cancel ${live}`, run: () => setAsking("stop") }] : []),
    ...(review ? [{ label: `Review the last attempt at ${task.id}`, run: () => navigate(review) }] : []),
    ...fits.map((name) => ({ label: `${ACTS[name].label} ${task.id}`, cli: `cleo ${name} ${task.id}`, run: () => run(name) })),
    { label: `Prove a gate of ${task.id}`, cli: `cleo verify ${task.id}`, run: () => setAsking("gate") },
    { label: `Add a dependency of ${task.id}`, run: () => setAsking("dependency") },
    { label: `Copy the spawn command of ${task.id}`, shortcut: "C", cli: command, run: () => copy(command, "command") },
  ]);
  const entries: MenuEntry[] = [
    ...fits.filter((name) => name !== first && name !== "cancel").map((name): MenuEntry => ({ label: ACTS[name].label, onSelect: () => run(name) })),
    { label: "Prove a gate", onSelect: () => setAsking("gate") },
    { label: "Add a dependency", onSelect: () => setAsking("dependency") },
    null,
    { label: "Copy the spawn command", icon: "copy", shortcut: "C", onSelect: () => copy(command, "command") },
    ...(fits.includes("cancel") ? [null, { label: ACTS.cancel.label, danger: true, onSelect: () => run("cancel") }] : []),
  ];
  return (
    <div className="task-actions">
      <div className="row">
        {runnable && (
          <Button small look="primary" icon="play" onClick={() => setAsking("run")}>
            {runLabel}
          </Button>
        )}
        {live && (
          <Link className="button small" href={`/runs/${encodeURIComponent(live)}?task=${task.id}`}>
            Watch
          </Link>
        )}
        {live && (
          <Button small look="danger" icon="stop" onClick={() => setAsking("stop")}>
            Stop
          </Button>
        )}
        {review && !page.live && (
          <Link className="button small" href={review}>
            Review
          </Link>
        )}
        {first && !page.live && (
          <Button small disabled={busy} onClick={() => run(first)}>
            {ACTS[first].label}
          </Button>
        )}
        <Menu label={`More for ${task.id}`} align="start" trigger={<Button small look="ghost" icon="more" aria-label={`More for ${task.id}`} />} entries={entries} />
      </div>
      {asking === "run" && <RunDialog what={{ tasks: [task.id] }} name={task.id} line={`cleo run ${task.id}`} onClose={close} />}
      {asking === "stop" && live && <StopDialog run={live} onClose={close} />}
      {asking === "gate" && <GateDialog id={task.id} onClose={close} />}
      {asking === "dependency" && <DependencyDialog id={task.id} onClose={close} />}
      {failure && <Trouble failure={failure} />}
      {failure && (
        <Button small look="ghost" onClick={forgive}>
          Close the message
        </Button>
      )}
    </div>
  );
}

/** A run is stopped as a whole. */
function StopDialog({ run, onClose }: { run: string; onClose: () => void }) {
  const [stop, { busy, failure }] = useAct(async () => {
    await api.post(`/api/runs/${encodeURIComponent(run)}/cancel`);
    touch("/api/");
    onClose();
  });
  return (
    <Confirm title="Stop its run?" action="Stop the run" danger busy={busy} failure={failure} onConfirm={stop} onClose={onClose}>
      <p>All agents of the run are ended, also those of other tasks. What is verified stays done, and Resume continues with the rest.</p>
    </Confirm>
  );
}

function claimFits(name: Act, claimed: boolean) {
  if (name === "claim") return !claimed;
  if (name === "release") return claimed;
  return true;
}

const KINDS = [
  { value: "run", label: "A command that cleo runs", hint: "Words with spaces between; no shell reads them." },
  { value: "files", label: "Files", hint: "Paths with commas between." },
  { value: "commits", label: "A commit", hint: "Its hash or name." },
  { value: "urls", label: "An address", hint: "Where the proof can be read." },
  { value: "notes", label: "A note", hint: "Words alone; they are marked as words alone." },
] as const;
type Kind = (typeof KINDS)[number]["value"];

/** Brings evidence for a gate. A command that fails is an answer too: the gate is then failed. */
function GateDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [gate, setGate] = useState<GateName>("implemented");
  const [kind, setKind] = useState<Kind>("run");
  const [text, setText] = useState("");
  const chosen = KINDS.find((one) => one.value === kind);

  const [run, { busy, failure }] = useAct(async () => {
    await api.post(`/api/work/tasks/${encodeURIComponent(id)}/gates/${gate}`, { [kind]: valuesOf(kind, text) });
    touch("/api/work/");
    onClose();
  });
  return (
    <FormDialog title={`Prove a gate of ${id}`} action={kind === "run" ? "Run it" : "Record"} disabled={busy || text.trim() === ""} failure={failure} onSubmit={run} onClose={onClose}>
      <Field label="Gate" value={gate} options={GATE_NAMES} onText={(name) => setGate(name as GateName)} />
      <Field label="Evidence" value={kind} options={KINDS} onText={(name) => setKind(name as Kind)} />
      <Field label={chosen?.label} className="mono" value={text} maxLength={2000} onText={setText} hint={chosen?.hint} />
      <Command line={`cleo verify ${id} --gate ${gate}`} />
    </FormDialog>
  );
}

function valuesOf(kind: Kind, text: string): string[] {
  if (kind === "run") return text.trim().split(/\s+/);
  if (kind === "files")
    return text
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
  return [text.trim()];
}

/** Makes a task wait for another one. The server refuses circles. */
function DependencyDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [text, setText] = useState("");
  const found = useResource<{ items: { id: string; title: string }[] }>(path("/api/search", { q: text.trim(), kinds: "task", limit: 20 }), { keep: true });

  const [run, { failure }] = useAct(async () => {
    await api.patch(`/api/work/tasks/${encodeURIComponent(id)}`, { addDepends: [text.trim()] });
    touch("/api/work/");
    onClose();
  });
  const others = (found.data?.items ?? []).filter((item) => item.id !== id);
  return (
    <FormDialog title={`What does ${id} wait for?`} action="Add" disabled={text.trim() === ""} failure={failure} onSubmit={run} onClose={onClose}>
      <Field label="Id of the task" className="mono" value={text} maxLength={200} data-first onText={setText} offers={others.map((item) => ({ value: item.id, label: item.title }))} />
    </FormDialog>
  );
}
