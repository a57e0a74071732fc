import { useRef, useState, type FormEvent, type ReactNode, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { Failure, api } from "../api/request";
import { refetch, touch, useAct } from "../api/resource";
import { Button } from "../parts/Button";
import { BothVersions, Discard, sendByKey, since, useEditing, useFirstField } from "../parts/editing";
import { sentence, Trouble } from "../parts/States";
import { Tabs } from "../parts/Tabs";
import { draftOf, EMPTY, fieldOf, FIELDS, LABELS, type Draft, type DraftField, withTags } from "./draft";
import { TryOut } from "./TryOut";
import type { Agent } from "../api/types";
import { Section, Term } from "../parts/Facts";
import { Field } from "../parts/Field";
import { Icon } from "../parts/Icon";
import "./crud.css";

interface AgentCRUDPanelProps {
  /** None makes a new one. */
  agent: Agent | null;
  agents: readonly Agent[];
  /** The field that is gone to. */
  part: string | null;
  /** The field is that in which somebody still types. */
  onSaved: (id: string, field: string | null) => void;
  onClose: () => void;
}

type Made = Partial<Agent> & { id: string };

interface Faults {
  by: Partial<Record<DraftField, string>>;
  other: Failure | null;
}

const NONE: Faults = { by: {}, other: null };
const tabOf = (field: string | null) => Object.keys(TABS).find((name) => TABS[name]?.some((one) => one === field)) ?? "basic";
const TABS: Record<string, DraftField[]> = { basic: ["name", "description", "role", "tags", "color"], prompt: ["prompt", "objective"], config: ["model", "temperature", "max_tokens", "tools"] };

/** Makes or changes an agent; while tags are edited it shows which messages would reach it. */
export function AgentCRUDPanel({ agent, agents, part, onSaved, onClose }: AgentCRUDPanelProps) {
  const editing = useEditing(`agent.${agent?.id ?? "new"}`, agent ? draftOf(agent) : EMPTY, agent?.updated_at ?? null);
  const { draft, base, at, both, dirty, clear, saved } = editing;
  const [brief, setBrief] = useState(false);
  const [faults, setFaults] = useState(NONE);
  const [touched, setTouched] = useState<ReadonlySet<DraftField>>(new Set());
  const [tab, setTab] = useState(tabOf(part));
  const form = useRef<HTMLFormElement>(null);
  useFirstField(form, part);

  const send = (dryRun: boolean) => {
    if (agent) return api.put<{ agent: Made }>(`/api/agents/${encodeURIComponent(agent.id)}`, { ...since(draft, base), updated_at: at, dryRun });
    if (brief && !dryRun) return api.post<{ agentId: string }>("/api/agents/register", { ...draft, id: `custom_${Date.now()}` }).then(({ agentId }) => ({ agent: { id: agentId } as Made }));
    return api.post<{ agent: Made }>("/api/agents/create", { ...draft, dryRun });
  };
  /** Puts what the server says at the field that it speaks of. */
  const refused = (fault: unknown, on: ReadonlySet<DraftField> | null) => {
    const failure = Failure.from(fault);
    const field = fieldOf(failure.detail);
    if (field === null) return setFaults({ by: {}, other: on ? null : failure });
    if (on && !on.has(field)) return setFaults(NONE);
    setFaults({ by: { [field]: sentence(failure.message) }, other: null });
    if (!on) setTab(tabOf(field));
  };
  const check = async (field: DraftField) => {
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
  const [save, { busy }] = useAct(async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    try {
      const { agent: made } = await send(false);
      if (!agent) await refetch("/api/agents/list");
      setFaults(NONE);
      const field = saved(draft, draftOf({ ...draft, ...made }), made.updated_at ?? null, `agent.${made.id}`, form.current);
      flushSync(() => onSaved(made.id, field));
    } catch (fault) {
      refused(fault, null);
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]:is(input, textarea, select)")?.focus());
    }
    touch("/api/agents/");
  });
  const fields: FieldsProps = {
    draft,
    put: editing.put,
    of: (field) => ({ name: field, label: LABELS[field], fault: faults.by[field], onBlur: () => void check(field) }),
  };
  const bad = FIELDS.filter((field) => faults.by[field] !== undefined).map((field) => LABELS[field]);
  const why = both.length > 0 ? "Choose between both versions first" : dirty ? undefined : agent ? "Nothing was changed" : "An agent needs a name and a prompt";
  return (
    <form className="form-pane" ref={form} onSubmit={save} onKeyDown={sendByKey} noValidate>
      <BothVersions editing={editing} labels={LABELS} onSettled={() => setFaults(NONE)} />
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
      {faults.other && both.length === 0 && <Trouble failure={faults.other} />}
      <footer className="form-foot">
        <p className="small bad grow" role="status">
          {bad.length > 0 && `Invalid: ${bad.join(", ")}`}
        </p>
        <Discard dirty={dirty} onDiscard={clear} onClose={onClose} />
        <Button look="primary" type="submit" disabled={busy || why !== undefined} title={why}>
          {agent ? "Save" : "Create agent"}
        </Button>
      </footer>
    </form>
  );
}

function labelled(label: string, tab: string, faults: Faults): ReactNode {
  const isBad = TABS[tab]?.some((field) => faults.by[field] !== undefined);
  return isBad ? <span className="bad">{label}, invalid</span> : label;
}

interface FieldsProps {
  draft: Draft;
  put: (change: Partial<Draft>) => void;
  /** What every control of this field has. */
  of: (field: DraftField) => { name: string; label: string; fault: string | undefined; onBlur: () => void };
}

function Basic({ draft, put, of, isNew, brief, onBrief, tryOut }: FieldsProps & { isNew: boolean; brief: boolean; onBrief: (brief: boolean) => void; tryOut: ReactNode }) {
  const roles = draft.role === "supervisor" ? ["supervisor", "specialist", "custom"] : ["specialist", "custom"];
  return (
    <>
      <div className="section form-fields">
        <Field {...of("name")} hint="Required. Its words count for routing." value={draft.name} required onText={(name) => put({ name })} />
        <Field {...of("description")} hint="What it is good at. Its words count, 1 each." value={draft.description} onText={(description) => put({ description })} />
        <TagField {...of("tags")} hint={`${draft.tags.length} given; 3 to 12 work best. Each that a message names counts 2.`} noun="tag" tags={draft.tags} onChange={(tags) => put({ tags })} />
        <div className="form-pair">
          <Field {...of("role")} options={roles} value={draft.role} disabled={draft.role === "supervisor"} onText={(role) => put({ role: role as Draft["role"] })} />
          <Field {...of("color")} className="crud-color" type="color" value={draft.color.toLowerCase()} onText={(color) => put({ color: color.toUpperCase() })} />
        </div>
        {isNew && (
          <label className="check">
            <input type="checkbox" checked={brief} onChange={(event) => onBrief(event.target.checked)} />
            Only for 30 minutes (runtime agent)
          </label>
        )}
      </div>
      {tryOut}
    </>
  );
}

function Prompt({ draft, put, of }: FieldsProps) {
  return (
    <div className="section form-fields">
      <Field {...of("prompt")} hint="Required. What a model is told before the message." rows={12} value={draft.prompt} required onText={(prompt) => put({ prompt })} />
      <Field {...of("objective")} hint="What it works towards. Its words count for routing." rows={3} value={draft.objective} onText={(objective) => put({ objective })} />
    </div>
  );
}

function Config({ draft, put, of, agent }: FieldsProps & { agent: Agent | null }) {
  // A number field that was emptied holds no number.
  const text = (value: number) => (Number.isFinite(value) ? value : "");
  const number = (typed: string) => (typed === "" ? Number.NaN : Number(typed));
  return (
    <>
      <div className="section form-fields">
        <Field {...of("model")} hint="Used unless the settings name another one." className="mono" value={draft.model} onText={(model) => put({ model })} />
        <div className="form-pair">
          <Field {...of("temperature")} hint="0 exact, 2 free" type="number" min={0} max={2} step={0.1} value={text(draft.temperature)} onText={(typed) => put({ temperature: number(typed) })} />
          <Field {...of("max_tokens")} hint="Of an answer" type="number" min={1} max={1_000_000} value={text(draft.max_tokens)} onText={(typed) => put({ max_tokens: number(typed) })} />
        </div>
        <TagField {...of("tools")} hint="Names of tools that it may use." noun="tool" tags={draft.tools} onChange={(tools) => put({ tools })} />
      </div>
      {agent && (agent.endpoint !== null || agent.command.length > 0) && (
        <Section title="Worker">
          <dl className="facts">
            <Term name="Reached by" mono={agent.endpoint ?? agent.command.join(" ")} />
            <Term name="Trust">{agent.standing ?? "unknown"}</Term>
          </dl>
        </Section>
      )}
    </>
  );
}

interface TagFieldProps {
  name: string;
  label: string;
  hint: string;
  fault: string | undefined;
  tags: readonly string[];
  onChange: (tags: string[]) => void;
  onBlur: () => void;
  /** What one of them is called. */
  noun: string;
}

/** Words as chips: Enter or a comma adds one, Backspace in the empty field takes the last away. */
function TagField({ name, label, hint, fault, tags, onChange, onBlur, noun }: TagFieldProps) {
  const [typed, setTyped] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const add = (text: string) => {
    if (text.trim() !== "") onChange(withTags(tags, text));
    setTyped("");
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && typed.trim() !== "") {
      event.preventDefault();
      add(typed);
    } else if (event.key === "Backspace" && typed === "" && tags.length > 0) {
      onChange(tags.slice(0, -1));
    }
  };
  const remove = (tag: string) => {
    onChange(tags.filter((one) => one !== tag));
    field.current?.focus();
  };
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <div className="tag-field input" aria-invalid={control["aria-invalid"]} onClick={() => field.current?.focus()}>
          {tags.map((tag) => (
            <span key={tag} className="chip">
              <span className="ell">{tag}</span>
              <button type="button" aria-label={`Remove ${noun} ${tag}`} onClick={() => remove(tag)}>
                <Icon name="close" />
              </button>
            </span>
          ))}
          <input
            {...control}
            name={name}
            ref={field}
            value={typed}
            autoComplete="off"
            onChange={(event) => (/[,;\n]/.test(event.target.value) ? add(event.target.value) : setTyped(event.target.value))}
            onKeyDown={keys}
            onBlur={() => {
              add(typed);
              onBlur();
            }}
          />
        </div>
      )}
    </Field>
  );
}
