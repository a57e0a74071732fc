// What a page leaves out: its filters are in its address, the same way on every page.
import { useState, type ReactNode } from "react";
import { TextLink, usePlace, useQuery, withQuery } from "../router";
import { useKeys } from "../shell/keys";
import { Button } from "./Button";
import { SearchField } from "./Field";
import { Icon } from "./Icon";
import { Menu } from "./Menu";

export interface FilterOf {
  name: string;
  label: string;
  values: readonly { value: string; label: string }[];
  /** Whether more than one value can be on. */
  several?: boolean;
}

interface Props {
  /** What is found by words: "task". */
  what: string;
  filters: readonly FilterOf[];
  children?: ReactNode;
}

export function Filters({ what, filters, children }: Props) {
  const { query } = usePlace();
  const [words, setWords] = useQuery("q");
  const [open, setOpen] = useState(false);
  const find = `Find ${/^[aeiou]/.test(what) ? "an" : "a"} ${what}`;
  const names = [...filters.map(({ name }) => name), "q"];
  useKeys("Filters", [
    { keys: "F", does: "Filter", run: () => setOpen(true) },
    { keys: "/", does: find, run: () => document.getElementById(`find-${what}`)?.focus() },
  ]);
  return (
    <div className="filters" role="group" aria-label="Filters">
      {filters.map((filter, at) => (
        <Filter key={filter.name} {...filter} {...(at === 0 && { open, onOpen: setOpen })} />
      ))}
      <SearchField id={`find-${what}`} label={find} value={words} onText={setWords} />
      {children}
      {names.some((name) => query.has(name)) && (
        <TextLink replace href={withQuery(Object.fromEntries(names.map((name) => [name, null])))}>
          Clear
        </TextLink>
      )}
    </div>
  );
}

function Filter({ name, label, values, several = false, ...menu }: FilterOf & { open?: boolean; onOpen?: (open: boolean) => void }) {
  const [chosen, setChosen] = useQuery(name);
  const on = (several ? (chosen ?? "").split(",") : [chosen ?? ""]).filter(Boolean);
  const flipped = (value: string) => values.map((one) => one.value).filter((one) => (one === value ? !on.includes(one) : several && on.includes(one)));
  // An address can name what does not exist; it is a filter too, so it is to be seen.
  const words = on.map((value) => values.find((one) => one.value === value)?.label ?? value).join(", ");
  return (
    <Menu
      {...menu}
      label={label}
      align="start"
      entries={values.map((one) => ({ label: one.label, checked: on.includes(one.value), onSelect: () => setChosen(flipped(one.value).join(",")) }))}
      trigger={
        <Button className={words ? "on" : ""}>
          {words ? `${label}: ${words}` : label}
          <Icon name="down" />
        </Button>
      }
    />
  );
}
