import type { Agent } from "../../agents/types";
import { Button } from "../../parts/Button";
import { Icon } from "../../parts/Icon";
import { Menu, type MenuEntry } from "../../parts/Menu";
import { Link } from "wouter";
import { useQuery, withQuery } from "../../router/location";
import { DUE_WORDS, DUES, PRIORITIES, STATUS_WORDS, STATUSES } from "./words";

export function TaskFilters({ agents }: { agents: readonly Agent[] }) {
  const [words, setWords] = useQuery("q");
  return (
    <div className="task-filters" role="group" aria-label="Filters">
      <Several name="status" label="Status" values={STATUSES.map((value) => ({ value, label: STATUS_WORDS[value] }))} />
      <Several name="priority" label="Priority" values={PRIORITIES.map((value) => ({ value, label: value }))} />
      <One name="agent" label="Agent" values={agents.map((agent) => ({ value: agent.id, label: agent.name }))} />
      <One name="due" label="Due" values={DUES.map((value) => ({ value, label: DUE_WORDS[value] }))} />
      <label className="unseen" htmlFor="find-task">
        Find a task
      </label>
      <span className="task-find">
        <Icon name="search" />
        <input id="find-task" type="search" className="input" value={words ?? ""} placeholder="Words of a task" onChange={(event) => setWords(event.target.value)} />
      </span>
      <Clear />
    </div>
  );
}

interface Choice {
  value: string;
  label: string;
}

/** A filter of which several values can be on. */
function Several({ name, label, values }: { name: string; label: string; values: Choice[] }) {
  const [chosen, setChosen] = useQuery(name);
  const on = (chosen ?? "").split(",").filter(Boolean);
  const flip = (value: string) =>
    setChosen(
      values
        .map((one) => one.value)
        .filter((one) => (one === value) !== on.includes(one))
        .join(","),
    );
  const entries: MenuEntry[] = values.map(({ value, label: text }) => ({ label: text, checked: on.includes(value), onSelect: () => flip(value) }));
  return <Choices label={label} chosen={values.filter(({ value }) => on.includes(value))} entries={entries} />;
}

/** A filter of which one value is on. */
function One({ name, label, values }: { name: string; label: string; values: Choice[] }) {
  const [chosen, setChosen] = useQuery(name);
  const entries: MenuEntry[] = values.map(({ value, label: text }) => ({ label: text, checked: value === chosen, onSelect: () => setChosen(value === chosen ? null : value) }));
  const known = values.find(({ value }) => value === chosen);
  // An address can name what does not exist; it filters all the same, so it is to be seen.
  const on = known ?? (chosen ? { value: chosen, label: chosen } : null);
  return <Choices label={label} chosen={on ? [on] : []} entries={entries} />;
}

function Choices({ label, chosen, entries }: { label: string; chosen: Choice[]; entries: MenuEntry[] }) {
  const words = chosen.map((one) => one.label).join(", ");
  return (
    <Menu
      label={label}
      align="start"
      entries={entries}
      trigger={
        <Button className={words ? "on" : ""}>
          {words ? `${label}: ${words}` : label}
          <Icon name="down" />
        </Button>
      }
    />
  );
}

function Clear() {
  const names = ["status", "priority", "agent", "due", "q"];
  const [status] = useQuery("status");
  const [priority] = useQuery("priority");
  const [agent] = useQuery("agent");
  const [due] = useQuery("due");
  const [q] = useQuery("q");
  if ([status, priority, agent, due, q].every((value) => value === null)) return null;
  return (
    <Link className="link" replace href={withQuery(Object.fromEntries(names.map((name) => [name, null])))}>
      Clear
    </Link>
  );
}
