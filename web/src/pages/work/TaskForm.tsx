// All fields of a task, for a new one and for one that is there. What is typed is kept until it is saved.
import { useEffect, useEffectEvent, useRef, useState, type FormEvent } from "react";
import { flushSync } from "react-dom";
import { SUPERVISOR, questionOf, useAgents } from "../../agents/agents";
import { ScoreView } from "../../agents/ScoreView";
import { api } from "../../api/request";
import { refetch, touch, useAct } from "../../api/resource";
import type { Routed, TaskPage } from "../../api/types";
import { Button } from "../../parts/Button";
import { BothVersions, Discard, sendByKey, useEditing, useFirstField } from "../../parts/editing";
import { Field } from "../../parts/Field";
import { sentence, Trouble } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { SEND } from "../../shell/keys";
import { dateOf, endOfDay } from "../agents-tasks/useTasks";
import "./work.css";

type Task = TaskPage["task"];

/** Texts, as they are typed. Lists have a line, or a comma, between their parts. */
const SCALARS = ["title", "description", "assignedAgent", "priority", "due", "estimate", "parent"] as const;
const LINES = ["acceptance", "deliverables", "files"] as const;
const WORDS = ["labels", "depends"] as const;
type Name = (typeof SCALARS | typeof LINES | typeof WORDS)[number];
type Draft = Record<Name, string>;

const PRIORITIES = [{ value: "critical", label: "urgent" }, "high", "medium", "low"];
const NAMES: Partial<Record<Name, string>> = { assignedAgent: "agent", estimate: "hours", acceptance: "accepted when", depends: "waits for", parent: "part of" };

function draftOf(task: Task | null): Draft {
  const texts = [...SCALARS].map((name) => [name, String(task?.[name] ?? "")]);
  const lists = [...LINES, ...WORDS].map((name) => [name, (task?.[name] ?? []).join(isLines(name) ? "\n" : ", ")]);
  return { ...(Object.fromEntries([...texts, ...lists]) as Draft), due: dateOf(task?.due ?? null), priority: task?.priority ?? "medium" };
}

function isLines(name: Name) {
  return (LINES as readonly Name[]).includes(name);
}

/** What is sent: of a task that is there, only what differs. A list is sent whole. */
function bodyOf(draft: Draft, base: Draft, isNew: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const clear: Name[] = [];
  for (const name of Object.keys(draft) as Name[]) {
    const text = draft[name].trim();
    if (draft[name] === base[name] && !(isNew && name === "title")) continue;
    if (!isNew && name !== "parent" && name !== "title" && (text === "" || !(SCALARS as readonly Name[]).includes(name))) clear.push(name);
    if ((SCALARS as readonly Name[]).includes(name)) {
      if (text !== "" || name === "title") body[name] = name === "due" ? endOfDay(text) : name === "estimate" ? Number(text) : draft[name];
      else if (name === "parent" && !isNew) body[name] = null;
    } else if (text !== "") {
      const parts = text.split(isLines(name) ? "\n" : ",").map((part) => part.trim());
      body[isNew ? name : `add${name.charAt(0).toUpperCase()}${name.slice(1)}`] = parts.filter(Boolean);
    }
  }
  return clear.length > 0 ? { ...body, clear } : body;
}

interface Props {
  task: Task | null;
  /** The field that is gone to. */
  part?: string | null | undefined;
  onClose?: () => void;
  /** The field is that in which somebody still types. */
  onCreated?: (id: string, field: string | null) => void;
}

export default function TaskForm({ task, part, onClose, onCreated }: Props) {
  const isNew = task === null;
  const editing = useEditing(`task.${task?.id ?? "new"}`, draftOf(task), task?.updatedAt ?? null);
  const { draft, base, at, both, dirty, clear, saved } = editing;
  const form = useRef<HTMLFormElement>(null);
  useFirstField(form, part ?? (isNew ? "title" : null));
  const sent = useRef(at);
  const put = (name: Name) => (text: string) => editing.put({ [name]: text });
  const [save, { busy, failure, forgive }] = useAct(async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const where = "/api/work/tasks";
    sent.current = at;
    const body = bodyOf(draft, base, isNew);
    try {
      const { task: made } = await (isNew ? api.post<{ task: Task }>(where, body) : api.patch<{ task: Task }>(`${where}/${encodeURIComponent(task.id)}`, body, { headers: { "if-match": `"${at}"` } }));
      if (isNew) await refetch(`${where}/${made.id}`);
      const field = saved(draft, draftOf(made), made.updatedAt, `task.${made.id}`, form.current);
      toast(isNew ? `Created ${made.id}.` : "Saved.");
      if (isNew) flushSync(() => onCreated?.(made.id, field));
    } finally {
      touch("/api/");
    }
  });
  const isBoth = both.length > 0;
  useEffect(() => {
    if (failure) form.current?.querySelector<HTMLElement>(isBoth ? "[role=alert] button" : "[aria-invalid=true]")?.focus();
  }, [failure, isBoth]);
  // Others changed other fields only: it is sent again, over what is kept now.
  const isMerged = failure?.code === "E_TASK_CHANGED" && sent.current !== at && both.length === 0;
  const sendAgain = useEffectEvent(() => {
    forgive();
    if (dirty) form.current?.requestSubmit();
  });
  useEffect(() => {
    if (isMerged) sendAgain();
  }, [isMerged]);
  const faults = Object.entries((failure?.detail["fields"] ?? {}) as Record<string, string>);
  /** The server names a list that grows `addFiles`. */
  const faultOf = (name: Name) => faults.filter(([field]) => field.toLowerCase().endsWith(name.toLowerCase())).map(([, words]) => sentence(words.replace(/^[\w[\].]+: /, "")))[0];
  const field = (name: Name) => ({ name, value: draft[name], onText: put(name), fault: faultOf(name) });
  const why = draft.title.trim() === "" ? "A task needs a title" : both.length > 0 ? "Choose between both versions first" : !dirty ? "Nothing was changed" : undefined;
  return (
    <form className="form-pane" ref={form} onSubmit={save} onKeyDown={sendByKey} noValidate>
      <div className="scroll task-scroll">
        <div className="section form-fields">
          <Field label="Title" {...field("title")} />
          <Field label="Description" rows={4} {...field("description")} />
          <AgentField draft={draft} fault={faultOf("assignedAgent")} onChange={put("assignedAgent")} />
          <div className="task-three">
            <Field label="Priority" options={PRIORITIES} {...field("priority")} />
            <Field label="Due" type="date" {...field("due")} />
            <Field label="Hours" type="number" min={0} step={0.25} {...field("estimate")} />
          </div>
          <Field label="Accepted when" rows={2} hint="A criterion a line; after “ :: ” the command that proves it." {...field("acceptance")} />
          <Field label="Deliverables" rows={2} hint="One a line." {...field("deliverables")} />
          <Field label="Files" rows={2} className="mono" hint="Paths or patterns that the work changes, one a line." {...field("files")} />
          <div className="task-three">
            <Field label="Waits for" className="mono" hint="T2, T5" {...field("depends")} />
            <Field label="Labels" hint="With commas between." {...field("labels")} />
            <Field label="Part of" className="mono" {...field("parent")} />
          </div>
        </div>
        <BothVersions editing={editing} labels={NAMES} onSettled={forgive} />
        {failure && both.length === 0 && faults.length === 0 && <Trouble failure={failure} />}
      </div>
      <footer className="form-foot">
        <Discard dirty={dirty} onDiscard={clear} onClose={onClose} />
        <Button look="primary" type="submit" shortcut={SEND} disabled={busy || why !== undefined} title={why}>
          {isNew ? "Create task" : "Save"}
        </Button>
      </footer>
    </form>
  );
}

/** Who is to do it; the router can say who fits, and why. */
function AgentField({ draft, fault, onChange }: { draft: Draft; fault: string | undefined; onChange: (id: string) => void }) {
  const { agents } = useAgents();
  const [found, setFound] = useState<{ message: string; routed: Routed } | null>(null);
  const message = `${draft.title}\n${draft.description}`.trim();
  const [suggest, { failure }] = useAct(async () => {
    setFound(null);
    const routed = await api.post<Routed>("/api/route", JSON.parse(questionOf({ message })));
    setFound({ message, routed });
    if (routed.route.decided === "matched") onChange(routed.route.agent);
  });
  const known = agents.filter((agent) => agent.id !== SUPERVISOR).map(({ id, name, status }) => ({ value: id, label: status === "active" ? name : `${name} (${status})` }));
  const own = draft.assignedAgent;
  const ask = (
    <Button disabled={message === ""} title={message === "" ? "A task needs a title first" : undefined} onClick={suggest}>
      Suggest
    </Button>
  );
  const options = [{ value: "", label: "Unassigned" }, ...(own === "" || known.some(({ value }) => value === own) ? [] : [{ value: own, label: own }]), ...known];
  return (
    <>
      <Field label="Agent" name="agent" fault={failure ? sentence(failure.message) : fault} options={options} value={own} onText={onChange} beside={ask} />
      {found && (
        <div className="task-why">
          <ScoreView message={found.message} decision={found.routed.route} agents={agents} left={found.routed.notScored} />
        </div>
      )}
    </>
  );
}
