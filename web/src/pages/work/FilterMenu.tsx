import { useEffect, useState } from "react";
import { count } from "../../format/numbers";
import { Button } from "../../parts/Button";
import { Dialog } from "../../parts/Dialog";
import { STATES, STATE_WORDS, type State } from "../../parts/state";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { navigate, withQuery } from "../../router/location";
import type { Graph } from "../../api/work";
import type { Filters } from "./filters";

const openings = new Set<() => void>();

export function openFilter() {
  openings.forEach((open) => open());
}

export function FilterMenu({ filters, groups }: { filters: Filters; groups: Graph["groups"] }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const opening = () => setOpen(true);
    openings.add(opening);
    return () => {
      openings.delete(opening);
    };
  }, []);
  const set = filters.states.length + (filters.q === "" ? 0 : 1) + (filters.epic ? 1 : 0);
  return (
    <>
      <Button icon="filter" shortcut="F" aria-haspopup="dialog" onClick={() => setOpen(true)} aria-pressed={set > 0} className="filter-button">
        <span className="desk-only">Filter</span>
        <span className="phone-only unseen">Filter</span>
        {set > 0 && <span className="muted">{set}</span>}
      </Button>
      {open && <FilterDialog filters={filters} groups={groups} onClose={() => setOpen(false)} />}
    </>
  );
}

function FilterDialog({ filters, groups, onClose }: { filters: Filters; groups: Graph["groups"]; onClose: () => void }) {
  const [states, setStates] = useState<State[]>(filters.states);
  const [q, setQ] = useState(filters.q);
  const [epic, setEpic] = useState(filters.epic ?? "");
  const toggle = (state: State) => setStates(states.includes(state) ? states.filter((one) => one !== state) : [...states, state]);
  const view = filters.view === "graph" && (states.length > 0 || q !== "") ? "list" : null;

  function apply() {
    navigate(withQuery({ status: states.join(","), q: q.trim(), epic: epic.trim(), ...(view ? { view } : {}) }), { replace: true });
    onClose();
  }

  return (
    <Dialog title="Filter the work" onClose={onClose}>
      <form
        className="filter-form"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <div className="field">
          <label htmlFor="filter-q">Words in title or text</label>
          <input id="filter-q" className="input" value={q} onChange={(event) => setQ(event.target.value)} maxLength={200} data-first />
        </div>
        <div className="field">
          <label htmlFor="filter-epic">Epic or parent</label>
          <input id="filter-epic" className="input mono" list="filter-epics" value={epic} onChange={(event) => setEpic(event.target.value)} />
          <datalist id="filter-epics">
            {groups.map((group) => (
              <option key={group.id} value={group.id}>{`${group.title}, ${count(group.total)} tasks`}</option>
            ))}
          </datalist>
        </div>
        <fieldset className="field">
          <legend className="label">Status</legend>
          <div className="states">
            {STATES.map((state) => (
              <label key={state} className="check">
                <input type="checkbox" checked={states.includes(state)} onChange={() => toggle(state)} />
                <StatusGlyph state={state} label="" />
                {STATE_WORDS[state]}
              </label>
            ))}
          </div>
        </fieldset>
        {view && <p className="small muted">Shown as a list: the graph always draws every task.</p>}
        <footer>
          <Button
            onClick={() => {
              setStates([]);
              setQ("");
              setEpic("");
            }}
          >
            Clear
          </Button>
          <Button look="primary" type="submit">
            Show
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
