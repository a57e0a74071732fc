import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from "react";
import { Failure } from "../api/failure";
import { api } from "../api/request";
import { touch } from "../api/resource";
import { Button } from "../parts/Button";
import { sentence, Trouble } from "../parts/States";
import { Tabs } from "../parts/Tabs";
import { Conflict } from "./Conflict";
import { changes, differing, draftOf, draftOfRow, EMPTY, fieldOf, FIELDS, LABELS, type Draft, type Field } from "./draft";
import { TagField } from "./TagField";
import { TryOut } from "./TryOut";
import type { Agent } from "./types";
import "./crud.css";
import { Section } from "../parts/Facts";

interface Props {
  /** None makes a new one. */
  agent: Agent | null;
  agents: readonly Agent[];
  onSaved: (id: string) => void;
  onClose: () => void;
}

interface Faults {
  by: Partial<Record<Field, string>>;
  other: Failure | null;
}

const NONE: Faults = { by: {}, other: null };
/** Which tab a field is on. */
const TABS: Record<string, Field[]> = { basic: ["name", "description", "role", "tags", "color"], prompt: ["prompt", "objective"], config: ["model", "temperature", "maxTokens", "tools"] };

/** Makes or changes an agent; while tags are edited it shows which messages would reach it. */
export function AgentCRUDPanel({ agent, agents, onSaved, onClose }: Props) {
  const [kept, setKept] = useState(() => (agent ? draftOf(agent) : EMPTY));
  const [draft, setDraft] = useState(kept);
  const [seen, setSeen] = useState<string | null>(agent?.updatedAt ?? null);
  const [brief, setBrief] = useState(false);
  const [faults, setFaults] = useState(NONE);
  const [theirs, setTheirs] = useState<Draft | null>(null);
  const [touched, setTouched] = useState<ReadonlySet<Field>>(new Set());
  const [busy, setBusy] = useState(false);
  const [tab, setTab] = useState("basic");
  const form = useRef<HTMLFormElement>(null);
  const dirty = differing(draft, kept).length > 0;
  useEffect(() => {
    // What somebody else saves is taken over as long as nothing is being edited here.
    if (!agent || dirty || agent.updatedAt === seen) return;
    setKept(draftOf(agent));
    setDraft(draftOf(agent));
    setSeen(agent.updatedAt);
  }, [agent, dirty, seen]);

  const body = () => (agent ? { ...changes(draft, kept), updated_at: seen } : { ...draft });
  const send = (dry: boolean) => {
    const query = dry ? "?dryRun=true" : "";
    if (agent) return api.put<{ agent: { id: string } }>(`/api/agents/${encodeURIComponent(agent.id)}${query}`, body());
    if (brief && !dry) return api.post<{ agentId: string }>("/api/agents/register", { ...draft, id: `custom_${Date.now()}` }).then(({ agentId }) => ({ agent: { id: agentId } }));
    return api.post<{ agent: { id: string } }>(`/api/agents/create${query}`, body());
  };
  /** Puts what the server says at the field that it speaks of. */
  const refused = (fault: unknown, on: ReadonlySet<Field> | null) => {
    const failure = Failure.from(fault);
    const field = fieldOf(failure.detail);
    if (field === null) return setFaults({ by: {}, other: on ? null : failure });
    if (on && !on.has(field)) return setFaults(NONE);
    setFaults({ by: { [field]: sentence(failure.message) }, other: null });
    if (!on) setTab(Object.keys(TABS).find((name) => TABS[name]?.includes(field)) ?? "basic");
  };
  /** Whether somebody else saved the agent meanwhile; then both versions are shown. */
  const overtaken = async (fault: unknown) => {
    if (!agent || !(fault instanceof Failure) || fault.status !== 409) return false;
    const { agent: row } = await api.get<{ agent: Record<string, unknown> }>(`/api/agents/${encodeURIComponent(agent.id)}`);
    if (updatedAt(row) === seen) return false;
    setTheirs(draftOfRow(row));
    setKept(draftOfRow(row));
    setSeen(updatedAt(row));
    return true;
  };
  const check = async (field: Field) => {
    const now = new Set(touched).add(field);
    setTouched(now);
    if (!dirty) return;
    try {
      await send(true);
      setFaults(NONE);
    } catch (fault) {
      if (!(fault instanceof Failure && fault.status === 409)) refused(fault, now);
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { agent: saved } = await send(false);
      touch("/api/agents/");
      setFaults(NONE);
      setKept(draft);
      setSeen(updatedAt(saved));
      onSaved(saved.id);
    } catch (fault) {
      if (!(await overtaken(fault))) refused(fault, null);
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]:is(input, textarea, select)")?.focus());
    }
    setBusy(false);
  };
  const fields: FieldProps = { draft, faults: faults.by, put: (change) => setDraft((now) => ({ ...now, ...change })), onBlur: (field) => void check(field) };
  if (theirs)
    return (
      <Conflict
        mine={draft}
        theirs={theirs}
        onDone={(merged) => {
          setDraft(merged);
          setTheirs(null);
        }}
      />
    );
  return (
    <form className="crud" ref={form} onSubmit={(event) => void save(event)} noValidate>
      <Tabs
        label="Parts of the agent"
        value={tab}
        onChange={setTab}
        tabs={[
          {
            id: "basic",
            label: labelled("Basic", "basic", faults),
            content: <Basic {...fields} isNew={agent === null} brief={brief} onBrief={setBrief} tryOut={<TryOut id={agent?.id ?? null} draft={draft} agents={agents} />} />,
          },
          { id: "prompt", label: labelled("Prompt", "prompt", faults), content: <Prompt {...fields} /> },
          { id: "config", label: labelled("Config", "config", faults), content: <Config {...fields} agent={agent} /> },
        ]}
      />
      {faults.other && <Trouble failure={faults.other} />}
      <footer className="crud-foot">
        <Summary faults={faults.by} />
        <Button onClick={onClose}>{dirty ? "Discard" : "Close"}</Button>
        <Button look="primary" type="submit" disabled={busy || !dirty}>
          {agent ? "Save" : "Create agent"}
        </Button>
      </footer>
    </form>
  );
}

/** When a row of the table of agents was last changed. */
function updatedAt(row: object): string | null {
  const at = (row as Record<string, unknown>)["updated_at"];
  return typeof at === "string" ? at : null;
}

function labelled(label: string, tab: string, faults: Faults): ReactNode {
  const isBad = TABS[tab]?.some((field) => faults.by[field] !== undefined);
  return isBad ? <span className="bad">{label}, to mend</span> : label;
}

function Summary({ faults }: { faults: Faults["by"] }) {
  const names = FIELDS.filter((field) => faults[field] !== undefined).map((field) => LABELS[field]);
  return (
    <p className="small bad grow" role="status">
      {names.length > 0 && `To mend: ${names.join(", ")}`}
    </p>
  );
}

interface FieldProps {
  draft: Draft;
  faults: Faults["by"];
  put: (change: Partial<Draft>) => void;
  onBlur: (field: Field) => void;
}

interface Control {
  id: string;
  "aria-describedby": string;
  "aria-invalid": boolean;
  onBlur: () => void;
}

/** A label, its control, its hint, and what is wrong with it. */
function Labelled({ field, hint, faults, onBlur, children }: { field: Field; hint?: string; children: (control: Control) => ReactNode } & Pick<FieldProps, "faults" | "onBlur">) {
  const id = useId();
  const fault = faults[field];
  return (
    <div className="field">
      <label htmlFor={id}>{LABELS[field]}</label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": fault !== undefined, onBlur: () => onBlur(field) })}
      <p id={`${id}-hint`} className={fault ? "fault" : "hint"}>
        {fault ?? hint}
      </p>
    </div>
  );
}

function Basic(props: FieldProps & { isNew: boolean; brief: boolean; onBrief: (brief: boolean) => void; tryOut: ReactNode }) {
  const { draft, put } = props;
  return (
    <>
      <div className="section crud-fields">
        <Labelled {...props} field="name" hint="Required. Its words count for routing.">
          {(control) => <input {...control} className="input" value={draft.name} required autoComplete="off" onChange={(event) => put({ name: event.target.value })} />}
        </Labelled>
        <Labelled {...props} field="description" hint="What it is good at. Its words count, 1 each.">
          {(control) => <input {...control} className="input" value={draft.description} autoComplete="off" onChange={(event) => put({ description: event.target.value })} />}
        </Labelled>
        <Labelled {...props} field="tags" hint={`${draft.tags.length} given; 3 to 12 work best. Each that a message names counts 2.`}>
          {(control) => (
            <TagField
              id={control.id}
              describedBy={control["aria-describedby"]}
              invalid={control["aria-invalid"]}
              noun="tag"
              tags={draft.tags}
              onChange={(tags) => put({ tags })}
              onBlur={control.onBlur}
            />
          )}
        </Labelled>
        <div className="crud-pair">
          <Labelled {...props} field="role">
            {(control) => (
              <select {...control} className="input" value={draft.role} disabled={draft.role === "supervisor"} onChange={(event) => put({ role: event.target.value as Draft["role"] })}>
                {draft.role === "supervisor" && <option value="supervisor">supervisor</option>}
                <option value="specialist">specialist</option>
                <option value="custom">custom</option>
              </select>
            )}
          </Labelled>
          <Labelled {...props} field="color">
            {(control) => <input {...control} className="input crud-color" type="color" value={draft.color.toLowerCase()} onChange={(event) => put({ color: event.target.value.toUpperCase() })} />}
          </Labelled>
        </div>
        {props.isNew && (
          <label className="check">
            <input type="checkbox" checked={props.brief} onChange={(event) => props.onBrief(event.target.checked)} />
            Only for 30 minutes (runtime agent)
          </label>
        )}
      </div>
      {props.tryOut}
    </>
  );
}

function Prompt(props: FieldProps) {
  const { draft, put } = props;
  return (
    <div className="section crud-fields">
      <Labelled {...props} field="prompt" hint="Required. What a model is told before the message.">
        {(control) => <textarea {...control} className="input" rows={12} value={draft.prompt} required onChange={(event) => put({ prompt: event.target.value })} />}
      </Labelled>
      <Labelled {...props} field="objective" hint="What it works towards. Its words count for routing.">
        {(control) => <textarea {...control} className="input" rows={3} value={draft.objective} onChange={(event) => put({ objective: event.target.value })} />}
      </Labelled>
    </div>
  );
}

function Config(props: FieldProps & { agent: Agent | null }) {
  const { draft, put, agent } = props;
  return (
    <>
      <div className="section crud-fields">
        <Labelled {...props} field="model" hint="Used unless the settings name another one.">
          {(control) => <input {...control} className="input mono" value={draft.model} autoComplete="off" onChange={(event) => put({ model: event.target.value })} />}
        </Labelled>
        <div className="crud-pair">
          <Labelled {...props} field="temperature" hint="0 exact, 2 free">
            {(control) => (
              <input {...control} className="input" type="number" min={0} max={2} step={0.1} value={number(draft.temperature)} onChange={(event) => put({ temperature: event.target.valueAsNumber })} />
            )}
          </Labelled>
          <Labelled {...props} field="maxTokens" hint="Of an answer">
            {(control) => (
              <input
                {...control}
                className="input"
                type="number"
                min={1}
                max={1_000_000}
                step={1}
                value={number(draft.maxTokens)}
                onChange={(event) => put({ maxTokens: event.target.valueAsNumber })}
              />
            )}
          </Labelled>
        </div>
        <Labelled {...props} field="tools" hint="Names of tools that it may use.">
          {(control) => (
            <TagField
              id={control.id}
              describedBy={control["aria-describedby"]}
              invalid={control["aria-invalid"]}
              noun="tool"
              tags={draft.tools}
              onChange={(tools) => put({ tools })}
              onBlur={control.onBlur}
            />
          )}
        </Labelled>
      </div>
      {agent && (agent.endpoint !== null || agent.command.length > 0) && <Worker agent={agent} />}
    </>
  );
}

/** A number field that was emptied holds no number. */
function number(value: number): number | "" {
  return Number.isFinite(value) ? value : "";
}

function Worker({ agent }: { agent: Agent }) {
  return (
    <Section title="Worker">
      <dl className="facts">
        <dt>Reached by</dt>
        <dd className="mono">{agent.endpoint ?? agent.command.join(" ")}</dd>
        <dt>Trust</dt>
        <dd>{agent.standing ?? "unknown"}</dd>
      </dl>
    </Section>
  );
}
