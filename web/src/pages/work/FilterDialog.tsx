import { useState } from "react";
import type { Filters } from "./filters";
import type { Graph } from "../../api/types";
import { type State, STATES, StatusGlyph, STATE_WORDS } from "../../parts/StatusGlyph";
import { navigate, withQuery } from "../../router";
import { FormDialog } from "../../parts/Dialog";
import { Button } from "../../parts/Button";
import { Field } from "../../parts/Field";
import { count } from "../../format";

export default function FilterDialog({ filters, groups, onClose }: { filters: Filters; groups: Graph["groups"]; onClose: () => void }) {
  const [states, setStates] = useState<State[]>(filters.states);
  const [q, setQ] = useState(filters.q);
  const [epic, setEpic] = useState(filters.epic ?? "");
  const toggle = (state: State) => setStates(states.includes(state) ? states.filter((one) => one !== state) : [...states, state]);
  const view = filters.view === "graph" && (states.length > 0 || q !== "") ? "list" : null;

  const apply = () => navigate(withQuery({ status: states.join(","), q: q.trim(), epic: epic.trim(), ...(view ? { view } : {}) }), { replace: true });
  const clear = () => {
    setStates([]);
    setQ("");
    setEpic("");
  };
  return (
    <FormDialog title="Filter the work" action="Show" other={<Button onClick={clear}>Clear</Button>} act={apply} onClose={onClose}>
      <Field label="Words in title or text" value={q} onText={setQ} maxLength={200} data-first />
      <Field label="Epic or parent" className="mono" value={epic} onText={setEpic} offers={groups.map((group) => ({ value: group.id, label: `${group.title}, ${count(group.total)} tasks` }))} />
      <fieldset className="field">
        <legend className="label">Status</legend>
        <div className="states">
          {STATES.map((state) => (
            <label key={state} className="check">
              <input type="checkbox" checked={states.includes(state)} onChange={() => toggle(state)} />
              <StatusGlyph state={state} label="" still />
              {STATE_WORDS[state]}
            </label>
          ))}
        </div>
      </fieldset>
      {view && <p className="small muted">Shown as a list: the graph always draws every task.</p>}
    </FormDialog>
  );
}
