import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { useAct } from "../../api/act";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { SUPERVISOR } from "../../agents/names";
import { routed } from "../../agents/routing";
import { ScoreView } from "../../agents/ScoreView";
import type { Agent, AgentTask, Routed, TaskPriority, TaskStatus } from "../../agents/types";
import { Ago, Id } from "../../format";
import { Button } from "../../parts/Button";
import { Command } from "../../parts/Command";
import { Absent, Loaded, sentence, Trouble } from "../../parts/States";
import { toast } from "../../parts/toasts";
import { Link } from "wouter";
import { Panel } from "../../shell/Panel";
import { isOfTasks } from "./useTasks";
import { dateOf, endOfDay, PRIORITIES, STATUS_WORDS, STATUSES } from "./words";
import { Term } from "../../parts/Facts";

interface Props {
  /** An id, or `new`. */
  id: string;
  /** The task, when it is on the board. */
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
  if (listed) return <Known {...props} task={listed} />;
  return (
    <Panel label={`Task ${id}`} title={id} onClose={onClose}>
      <Loaded
        of={fetched}
        absent={
          <Absent id={id}>
            <Button onClick={onClose}>Back to the board</Button>
          </Absent>
        }
      >
        {({ task }) => <Form {...props} task={task} />}
      </Loaded>
    </Panel>
  );
}

function Known(props: Props & { task: AgentTask }) {
  const { task } = props;
  return (
    <Panel label={`Task ${task.id}`} title={task.title} above={<Id value={task.id} />} href={`/work/${task.id}`} onClose={props.onClose}>
      <Form {...props} task={task} />
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
  const all: Record<keyof Draft, [string, unknown]> = {
    title: ["title", draft.title],
    description: ["description", draft.description],
    assigned_to: ["assigned_to", draft.assigned_to || null],
    priority: ["priority", draft.priority],
    due: ["due_date", draft.due === "" ? null : endOfDay(draft.due)],
    hours: ["estimated_hours", draft.hours === "" ? null : Number(draft.hours)],
  };
  const keys = (Object.keys(all) as (keyof Draft)[]).filter((key) => draft[key] !== kept[key] || key === "title");
  const pairs = keys.map((key) => all[key]).filter(([name, value]) => !(isNew && value === null) && !(name === "title" && !isNew && draft.title === kept.title));
  return Object.fromEntries(pairs);
}

function Form({ task, part, agents, onMove, onClose, onCreated }: Props & { task: AgentTask | null }) {
  const kept = task ? draftOf(task) : EMPTY;
  const [draft, setDraft] = useState(kept);
  const [base, setBase] = useState(kept);
  const form = useRef<HTMLFormElement>(null);
  const dirty = JSON.stringify(draft) !== JSON.stringify(base);
  const now = JSON.stringify(kept);
  useEffect(() => {
    // What somebody else changed is taken over as long as nothing is being edited here.
    if (dirty || now === JSON.stringify(base)) return;
    setBase(JSON.parse(now) as Draft);
    setDraft(JSON.parse(now) as Draft);
  }, [now, dirty, base]);
  useEffect(() => {
    const name = part ?? (task ? null : "title");
    if (name) form.current?.querySelector<HTMLElement>(`[name="${name}"]`)?.focus();
  }, [part, task]);
  const put = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const {
    run: save,
    busy,
    failure,
  } = useAct(async (event: FormEvent) => {
    event.preventDefault();
    const body = bodyOf(draft, base, task === null);
    const where = task ? `/api/tasks/${encodeURIComponent(task.id)}` : "/api/tasks/create";
    const { task: made } = await (task ? api.put<{ task: AgentTask }>(where, body) : api.post<{ task: AgentTask }>(where, body));
    setBase(draftOf(made));
    setDraft(draftOf(made));
    touch("/api/tasks");
    toast(task ? "Saved." : `Created ${made.id}.`);
    if (!task) onCreated(made.id);
  });
  return (
    <form className="task-form" ref={form} onSubmit={save} noValidate>
      <div className="scroll task-scroll">
        {task && <Facts task={task} onMove={onMove} />}
        <div className="section task-fields">
          <Text label="Title" name="title" value={draft.title} fault={faultOf(failure, "title")} onChange={(title) => put({ title })} />
          <Area label="Description" name="description" value={draft.description} onChange={(description) => put({ description })} />
          <AgentField draft={draft} agents={agents} onChange={(assigned_to) => put({ assigned_to })} />
          <div className="task-three">
            <Choice label="Priority" name="priority" value={draft.priority} values={PRIORITIES} onChange={(priority) => put({ priority: priority as TaskPriority })} />
            <Text label="Due" name="due" type="date" value={draft.due} fault={faultOf(failure, "due")} onChange={(due) => put({ due })} />
            <Text label="Hours" name="hours" type="number" value={draft.hours} fault={faultOf(failure, "estimate")} onChange={(hours) => put({ hours })} />
          </div>
        </div>
        {failure && faultOf(failure, "title") === null && <Trouble failure={failure} />}
        {task && (
          <div className="section">
            <Command line={`cleo update ${task.id} --status review`} />
          </div>
        )}
      </div>
      <footer className="task-foot">
        <Button onClick={onClose}>{dirty ? "Discard" : "Close"}</Button>
        <Button look="primary" type="submit" disabled={busy || (!dirty && task !== null)}>
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
        <Link className="link" href={`/work/${task.id}`}>
          Gates, receipt and proof of {task.id}
        </Link>
      </Term>
    </dl>
  );
}

interface FieldProps {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
}

function Text({ label, name, value, fault, type = "text", onChange }: FieldProps & { fault: string | null; type?: string }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        className="input"
        value={value}
        autoComplete="off"
        aria-invalid={fault !== null}
        aria-describedby={`${id}-fault`}
        {...(type === "number" ? { min: 0, step: 0.25 } : {})}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-fault`} className="fault">
        {fault}
      </p>
    </div>
  );
}

function Area({ label, name, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} name={name} className="input" rows={4} value={value} onChange={(event) => onChange(event.target.value)} />
    </div>
  );
}

function Choice({ label, name, value, values, onChange }: FieldProps & { values: readonly string[] }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </div>
  );
}

/** Who is to do it; the router can say who fits, and why. */
function AgentField({ draft, agents, onChange }: { draft: Draft; agents: readonly Agent[]; onChange: (id: string) => void }) {
  const id = useId();
  const [found, setFound] = useState<{ message: string; routed: Routed } | Failure | null>(null);
  const message = `${draft.title}\n${draft.description}`.trim();
  const suggest = async () => {
    try {
      const answer = await routed({ message });
      setFound({ message, routed: answer });
      if (answer.route.decided === "matched") onChange(answer.route.agent);
    } catch (fault) {
      setFound(Failure.from(fault));
    }
  };
  return (
    <div className="field">
      <label htmlFor={id}>Agent</label>
      <div className="row">
        <select id={id} name="agent" className="input" value={draft.assigned_to} onChange={(event) => onChange(event.target.value)}>
          <option value="">Nobody</option>
          {agents
            .filter((agent) => agent.id !== SUPERVISOR)
            .map((agent) => (
              <option key={agent.id} value={agent.id}>
                {agent.name}
                {agent.status === "active" ? "" : ` (${agent.status})`}
              </option>
            ))}
        </select>
        <Button disabled={message === ""} onClick={() => void suggest()}>
          Suggest
        </Button>
      </div>
      {found instanceof Failure && <p className="fault">{sentence(found.message)}</p>}
      {found && !(found instanceof Failure) && (
        <div className="task-why">
          <ScoreView message={found.message} decision={found.routed.route} agents={agents} left={found.routed.notScored} />
        </div>
      )}
    </div>
  );
}
