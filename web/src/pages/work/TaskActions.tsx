import { useState } from "react";
import { type TaskPage, GATE_NAMES, type GateName } from "../../api/types";
import { Button, Command } from "../../parts/Button";
import { copy } from "../../parts/toasts";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { Refusal } from "../../parts/States";
import { useKeys } from "../../shell/keys";
import { act, ACTS, type Act } from "./rows";
import { useAct, touch } from "../../api/resource";
import { api } from "../../api/request";
import { FormDialog } from "../../parts/Dialog";
import { useDraft } from "../../parts/draft";
import { navigate, Link } from "../../router";
import { useCommands } from "../../shell/places";
import { Field } from "../../parts/Field";
import { RunButtons } from "./RunButtons";

/** What can be done with the task now. A refusal stays in place, with what to do about it. */
export function TaskActions({ page }: { page: TaskPage }) {
  const { task, state, claim } = page;
  const [run, { failure, busy, forgive }] = useAct((what: Act) => act(task.id, what));
  const fits = (Object.keys(ACTS) as Act[]).filter((name) => ACTS[name].from.includes(state) && (name === "claim" ? claim === null : name !== "release" || claim !== null));
  const first = fits.find((name) => name === "complete" || name === "reopen");
  const [asking, setAsking] = useState(false);
  const last = page.attempts.at(-1);
  const review = last && `/runs/${encodeURIComponent(last.run)}/${task.id}?attempt=${last.attempt}`;
  const command = `cleo spawn ${task.id}`;
  useKeys(`Task ${task.id}`, [{ keys: "C", does: "Copy its command", run: () => copy(command, "command") }]);
  useCommands("task", [
    ...(review ? [{ label: `Review the last attempt at ${task.id}`, run: () => navigate(review) }] : []),
    ...(first ? [{ label: `${ACTS[first].label}: ${task.id}`, cli: `cleo ${first} ${task.id}`, run: () => run(first) }] : []),
  ]);
  const entries: MenuEntry[] = [
    ...fits.filter((name) => name !== first && name !== "cancel").map((name): MenuEntry => ({ label: ACTS[name].label, cli: `cleo ${name} ${task.id}`, onSelect: () => run(name) })),
    { label: "Prove a gate", cli: `cleo verify ${task.id}`, onSelect: () => setAsking(true) },
    null,
    { label: "Copy the spawn command", icon: "copy", shortcut: "C", onSelect: () => copy(command, "command") },
    ...(fits.includes("cancel") ? [null, { label: ACTS.cancel.label, danger: true, cli: `cleo cancel ${task.id}`, onSelect: () => run("cancel") }] : []),
  ];
  return (
    <div className="task-actions">
      <div className="row">
        <RunButtons main id={task.id} state={state} run={page.live ? last?.run : null} tried={page.attempts.length > 0} />
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
        <Menu offer={task.id} label={`More for ${task.id}`} align="start" trigger={<Button small look="ghost" icon="more" aria-label={`More for ${task.id}`} />} entries={entries} />
      </div>
      {asking && <GateDialog id={task.id} onClose={() => setAsking(false)} />}
      <Refusal failure={failure} onClose={forgive} />
    </div>
  );
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
  const [text, setText] = useDraft(`gate.${id}`);
  const chosen = KINDS.find((one) => one.value === kind);

  const prove = async () => {
    const parts = kind === "run" ? text.split(/\s+/) : kind === "files" ? text.split(",") : [text];
    await api.post(`/api/work/tasks/${encodeURIComponent(id)}/gates/${gate}`, { [kind]: parts.map((part) => part.trim()).filter(Boolean) });
    touch("/api/work/");
    setText("");
  };
  return (
    <FormDialog title={`Prove a gate of ${id}`} action={kind === "run" ? "Run it" : "Record"} disabled={text.trim() === ""} act={prove} onClose={onClose}>
      <Field label="Gate" data-first value={gate} options={GATE_NAMES} onText={(name) => setGate(name as GateName)} />
      <Field label="Evidence" value={kind} options={KINDS} onText={(name) => setKind(name as Kind)} />
      <Field label={chosen?.label} className="mono" value={text} maxLength={2000} onText={setText} hint={chosen?.hint} />
      <Command line={`cleo verify ${id} --gate ${gate}`} />
    </FormDialog>
  );
}
