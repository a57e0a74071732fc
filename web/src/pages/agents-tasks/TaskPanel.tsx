import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { useAct, touch, useResource } from "../../api/resource";
import { type Failure, api } from "../../api/request";
import { SUPERVISOR, questionOf } from "../../agents/agents";
import { ScoreView } from "../../agents/ScoreView";
import type { Agent, AgentTask, Routed, TaskPriority, TaskStatus } from "../../api/types";
import { Ago, Id } from "../../format";
import { Button, Command } from "../../parts/Button";
import { Absent, Loaded, sentence, Trouble } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { Panel } from "../../shell/Page";
import { isOfTasks, dateOf, endOfDay, PRIORITIES, STATUS_WORDS, STATUSES } from "./useTasks";
import { Term } from "../../parts/Facts";
import { TextLink } from "../../router";
import { useDraft } from "../../parts/draft";
import { Field } from "../../parts/Field";

interface Props {
  /** An id, or `new`. */
  id: string;
  listed: AgentTask | undefined;
  /** The field that is gone to: agent, priority or due. */
  part: string | null;
  agents: readonly Agent[];
  onMove: (task: AgentTask, to: TaskStatus) => void;
  onClose: () => void;
  onCreated: (id: string) => void;
}

export function TaskPanel(props: Props) {
  const { id, listed, onClose } = props;
  const isNew = id === "new";
  const fetched = useResource<{ task: AgentTask }>(isNew || listed ? null : `/api/tasks/${encodeURIComponent(id)}`, { on: isOfTasks });
  if (isNew)
    return (
      <Panel label="New task" title="New task" onClose={onClose}>
        <Form {...props} task={null} />
      </Panel>
    );
  if (!listed)
    return (
      <Panel label={`Task ${id}`} title={id} onClose={onClose}>
        <Loaded of={fetched} absent={<Absent id={id} back={<Button onClick={onClose}>Back to the board</Button>} />}>
          {({ task }) => <Form {...props} task={task} />}
        </Loaded>
      </Panel>
    );
  return (
    <Panel label={`Task ${id}`} title={listed.title} above={<Id value={id} />} href={`/work/${id}`} onClose={onClose}>
      <Form {...props} task={listed} />
    </Panel>
  );
}

interface Draft {
  title: string;
  description: string;
  assigned_to: string;
  priority: TaskPriority;
  due: string;
  hours: string;
}

const EMPTY: Draft = { title: "", description: "", assigned_to: "", priority: "medium", due: "", hours: "" };

function draftOf(task: AgentTask): Draft {
  const { title, description, assigned_to, priority, due_date, estimated_hours } = task;
  return { title, description, assigned_to: assigned_to ?? "", priority, due: dateOf(due_date), hours: estimated_hours === null ? "" : String(estimated_hours) };
}

/** What is sent: of a task that is there, only what differs. */
function bodyOf(draft: Draft, kept: Draft, isNew: boolean): Record<string, unknown> {
  const sent = ({ title, description, assigned_to, priority, due, hours }: Draft): Record<string, unknown> => ({
    title,
    description,
    assigned_to: assigned_to || null,
    priority,
    due_date: due === "" ? null : endOfDay(due),
    estimated_hours: hours === "" ? null : Number(hours),
  });
  const before = sent(kept);
  return Object.fromEntries(Object.entries(sent(draft)).filter(([name, value]) => (isNew && name === "title") || value !== before[name]));
}

interface Editing {
  draft: Draft;
  /** What the task was when it was typed. */
  base: Draft;
  at: string | null;
}

/** A draft over the task as it is now: fields that only others changed are theirs; both versions of the rest are kept apart. */
function rebased({ draft, base, at }: Editing, kept: Draft, now: string | null): Editing & { both: (keyof Draft)[] } {
  const names = Object.keys(base) as (keyof Draft)[];
  const both = names.filter((name) => draft[name] !== base[name] && kept[name] !== base[name] && kept[name] !== draft[name]);
  if (both.length > 0) return { draft, base, at, both };
  const merged = Object.fromEntries(names.map((name) => [name, draft[name] === base[name] ? kept[name] : draft[name]])) as unknown as Draft;
  return { draft: merged, base: kept, at: now, both };
}

function Form({ task, part, agents, onMove, onClose, onCreated }: Props & { task: AgentTask | null }) {
  const kept = task ? draftOf(task) : EMPTY;
  const [typed, setTyped] = useDraft(`task.${task?.id ?? "new"}`);
  const now = task?.updated_at ?? null;
  const isNew = task === null;
  const editing = rebased(typed === "" ? { draft: kept, base: kept, at: now } : (JSON.parse(typed) as Editing), kept, now);
  const { draft, base, at, both } = editing;
  const form = useRef<HTMLFormElement>(null);
  const dirty = JSON.stringify(draft) !== JSON.stringify(base);
  useEffect(() => {
    const name = part ?? (isNew ? "title" : null);
    if (name) form.current?.querySelector<HTMLElement>(`[name="${name}"]`)?.focus();
  }, [part, isNew]);
  const keepDraft = (next: Editing) => setTyped(JSON.stringify(next.draft) === JSON.stringify(next.base) ? "" : JSON.stringify({ draft: next.draft, base: next.base, at: next.at }));
  const put = (change: Partial<Draft>) => keepDraft({ ...editing, draft: { ...draft, ...change } });
  const [save, { busy, failure, forgive }] = useAct(async (event: FormEvent) => {
    event.preventDefault();
    const body = bodyOf(draft, base, task === null);
    const where = task ? `/api/tasks/${encodeURIComponent(task.id)}` : "/api/tasks/create";
    touch("/api/tasks");
    const { task: made } = await (task ? api.put<{ task: AgentTask }>(where, body, { headers: { "if-match": `"${at}"` } }) : api.post<{ task: AgentTask }>(where, body));
    setTyped("");
    touch("/api/tasks");
    toast(task ? "Saved." : `Created ${made.id}.`);
    if (!task) onCreated(made.id);
  });
  function settle(mine: boolean) {
    forgive();
    const theirs = Object.fromEntries(both.map((name) => [name, kept[name]]));
    keepDraft({ draft: mine ? draft : { ...draft, ...theirs }, base: { ...base, ...theirs }, at: now });
  }
  return (
    <form className="task-form" ref={form} onSubmit={save} noValidate>
      <div className="scroll task-scroll">
        {task && <Facts task={task} onMove={onMove} />}
        <div className="section task-fields">
          <Field label="Title" name="title" value={draft.title} fault={faultOf(failure, "title")} onText={(title) => put({ title })} />
          <Field label="Description" name="description" rows={4} value={draft.description} onText={(description) => put({ description })} />
          <AgentField draft={draft} agents={agents} onChange={(assigned_to) => put({ assigned_to })} />
          <div className="task-three">
            <Field label="Priority" name="priority" value={draft.priority} options={PRIORITIES} onText={(priority) => put({ priority: priority as TaskPriority })} />
            <Field label="Due" name="due" type="date" value={draft.due} fault={faultOf(failure, "due")} onText={(due) => put({ due })} />
            <Field label="Hours" name="hours" type="number" min={0} step={0.25} value={draft.hours} fault={faultOf(failure, "estimate")} onText={(hours) => put({ hours })} />
          </div>
        </div>
        {both.length > 0 && (
          <div className="notice" role="alert">
            <span className="grow">
              Changed elsewhere while you typed:{" "}
              {both.map((name) => (
                <span key={name}>
                  {name.replace("_", " ")} is now “{kept[name] || "empty"}”.{" "}
                </span>
              ))}
            </span>
            <Button small onClick={() => settle(true)}>
              Keep mine
            </Button>
            <Button small onClick={() => settle(false)}>
              Take theirs
            </Button>
          </div>
        )}
        {failure && both.length === 0 && faultOf(failure, "title") === null && <Trouble failure={failure} />}
        {task && (
          <div className="section">
            <Command line={`cleo update ${task.id} --status review`} />
          </div>
        )}
      </div>
      <footer className="task-foot">
        <Button
          onClick={() => {
            setTyped("");
            onClose();
          }}
        >
          {dirty ? "Discard" : "Close"}
        </Button>
        <Button look="primary" type="submit" disabled={busy || both.length > 0 || (!dirty && task !== null)}>
          {task ? "Save" : "Create task"}
        </Button>
      </footer>
    </form>
  );
}

/** The fault of a field, from the sentence of the server. */
function faultOf(failure: Failure | null, word: string): string | null {
  if (!failure) return null;
  const field = failure.detail["field"];
  const isIts = typeof field === "string" ? field.startsWith(word) : new RegExp(`\\b${word}\\b`, "i").test(failure.message);
  return isIts ? sentence(failure.message) : null;
}

function Facts({ task, onMove }: { task: AgentTask; onMove: Props["onMove"] }) {
  const field = useId();
  return (
    <dl className="section facts">
      <dt>
        <label htmlFor={field}>Status</label>
      </dt>
      <dd>
        <select id={field} className="input" name="status" value={task.status} onChange={(event) => onMove(task, event.target.value as TaskStatus)}>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {STATUS_WORDS[status]}
            </option>
          ))}
        </select>
      </dd>
      <Term name="Created">
        <Ago at={task.created_at} />
      </Term>
      <Term name="Started">{task.started_at !== null && <Ago at={task.started_at} />}</Term>
      <Term name="Done">{task.completed_at !== null && <Ago at={task.completed_at} />}</Term>
      <Term name="Evidence">
        <TextLink href={`/work/${task.id}`}>Gates, receipt and proof of {task.id}</TextLink>
      </Term>
    </dl>
  );
}

/** Who is to do it; the router can say who fits, and why. */
function AgentField({ draft, agents, onChange }: { draft: Draft; agents: readonly Agent[]; onChange: (id: string) => void }) {
  const [found, setFound] = useState<{ message: string; routed: Routed } | null>(null);
  const message = `${draft.title}\n${draft.description}`.trim();
  const [suggest, { failure }] = useAct(async () => {
    setFound(null);
    const routed = await api.post<Routed>("/api/route", JSON.parse(questionOf({ message })));
    setFound({ message, routed });
    if (routed.route.decided === "matched") onChange(routed.route.agent);
  });
  return (
    <>
      <Field label="Agent" fault={failure && sentence(failure.message)}>
        {(control) => (
          <div className="row">
            <select {...control} name="agent" className="input" value={draft.assigned_to} onChange={(event) => onChange(event.target.value)}>
              <option value="">Unassigned</option>
              {agents
                .filter((agent) => agent.id !== SUPERVISOR)
                .map((agent) => (
                  <option key={agent.id} value={agent.id}>
                    {agent.name}
                    {agent.status === "active" ? "" : ` (${agent.status})`}
                  </option>
                ))}
            </select>
            <Button disabled={message === ""} onClick={suggest}>
              Suggest
            </Button>
          </div>
        )}
      </Field>
      {found && (
        <div className="task-why">
          <ScoreView message={found.message} decision={found.routed.route} agents={agents} left={found.routed.notScored} />
        </div>
      )}
    </>
  );
}
