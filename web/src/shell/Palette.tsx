// Find or run: what the server finds, commands for the selection, then places.
import { Command } from "cmdk";
import { useEffect, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Got } from "../api/types";
import { path } from "../api/request";
import { useResource, useLate } from "../api/resource";
import { copy } from "../parts/toasts";
import { Icon, type IconName } from "../parts/Icon";
import { useModal } from "../parts/Dialog";
import { StatusGlyph, stateOf } from "../parts/StatusGlyph";
import { navigate } from "../router";
import { keysNow, spelled } from "./keys";
import { closePalette, usePalette, type PaletteCommand, PLACES } from "./places";
import "./palette.css";

type Found = Got<"/api/search">["items"][number];

const KINDS: Record<Found["kind"], [heading: string, IconName]> = { task: ["Tasks", "work"], run: ["Runs", "runs"], agent: ["Agents", "manage"], conversation: ["Conversations", "chat"] };

export default function Palette() {
  const text = usePalette((state) => state.text);
  const offered = usePalette((state) => state.commands);
  const [chosen, setChosen] = useState("");
  const { words, kinds, commandsOnly } = asked(text);
  const { data, failure, isOfBefore } = useFound(commandsOnly ? null : words, kinds);
  const all = [...[...offered.values()].flat(), ...keyed()];
  const commands = all.filter((one, at) => fits(one.label, words) && all.findIndex(({ label }) => label === one.label) === at);
  const places = PLACES.filter((place) => fits(place.label, words));
  const groups: [heading: string, Item[]][] = [
    ...Object.entries(KINDS).map(([kind, [heading]]): [string, Item[]] => [heading, (data ?? []).filter((one) => one.kind === kind).map(foundItem)]),
    ["Do", kinds ? [] : commands.map((one) => ({ ...one, value: `> ${one.label}`, icon: <Icon name="play" />, hint: <span className="mono">{one.cli ?? one.hint}</span> }))],
    ["Go to", kinds || commandsOnly ? [] : places.map(({ label, icon, key, href }) => ({ value: `/ ${label}`, icon: <Icon name={icon} />, label, shortcut: `G ${key}`, run: () => navigate(href) }))],
  ];
  const items = groups.flatMap(([, list]) => list);

  const first = items[0]?.value ?? "";
  useEffect(() => setChosen(first), [first]);
  const entered = usePalette((state) => state.entered);
  useEffect(() => {
    if (!entered || isOfBefore) return;
    if (items[0]) go(items[0].run);
    else usePalette.setState({ entered: false });
  });

  /** Once the focus is back where it was: that is what many a command is about. */
  function go(run: () => void) {
    closePalette();
    setTimeout(run);
  }

  /** ⌘C copies the chosen command's line for a shell. */
  function key(event: KeyboardEvent) {
    if (event.key === "Enter" && items.length === 0) usePalette.setState({ entered: true });
    if (!(event.metaKey || event.ctrlKey) || event.key !== "c" || String(window.getSelection()) !== "") return;
    const cli = items.find((one) => one.value.toLowerCase() === chosen.toLowerCase())?.cli;
    if (cli) {
      event.preventDefault();
      copy(cli, "command");
    }
  }

  return (
    <dialog {...useModal(closePalette)} className="palette glass" aria-label="Find or run">
      <Command shouldFilter={false} label="Find or run" value={chosen} onValueChange={setChosen} onKeyDown={key} loop>
        <div className="field-line">
          <Icon name="search" />
          <Command.Input value={text} onValueChange={(typed) => usePalette.setState({ text: typed, entered: false })} placeholder="Task, run, agent or command" maxLength={200} data-first />
          <kbd>esc</kbd>
        </div>
        <Command.List>
          {failure && <p className="nothing bad">{failure.message}</p>}
          {data && !failure && items.length === 0 && <p className="nothing">Nothing here is called “{words}”.</p>}
          {groups.map(
            ([heading, list]) =>
              list.length > 0 && (
                <Command.Group key={heading} heading={heading}>
                  {list.map(({ value, icon, label, hint, shortcut, run }) => (
                    <Command.Item key={value} value={value} onSelect={() => go(run)}>
                      {icon}
                      <span className="ell">{label}</span>
                      <span className="grow ell small muted">{hint}</span>
                      {shortcut && <kbd>{shortcut}</kbd>}
                    </Command.Item>
                  ))}
                </Command.Group>
              ),
          )}
        </Command.List>
        <footer>
          <span>↑↓ choose</span>
          <span>↵ open</span>
          <span className="end">&gt; commands&ensp;# tasks&ensp;@ agents</span>
        </footer>
      </Command>
    </dialog>
  );
}

interface Item {
  value: string;
  icon: ReactNode;
  label: string;
  hint?: ReactNode;
  shortcut?: string | undefined;
  cli?: string | undefined;
  run: () => void;
}

function foundItem({ kind, id, title, hint, state, href }: Found): Item {
  const icon = state && kind !== "agent" && kind !== "conversation" ? <StatusGlyph state={stateOf(state)} still /> : <Icon name={KINDS[kind][1]} />;
  return { value: `${kind} ${id}`, icon, label: title, hint: kind === "task" ? [id, hint].filter(Boolean).join(", ") : hint, run: () => navigate(href) };
}

/** What the keys of the page under it do. */
function keyed(): PaletteCommand[] {
  const bindings = keysNow().flatMap(({ group, bindings }) => (group === "Everywhere" ? [] : bindings.filter(({ keys }) => keys !== "Alt" && keys !== "Escape")));
  return bindings.map(({ keys, does, run }) => ({ label: does, shortcut: spelled(keys).join(" "), run: () => run(new KeyboardEvent("keydown")) }));
}

function useFound(words: string | null, kinds: string | null) {
  const late = useLate(words, 80);
  const address = words === null || late === null ? null : path("/api/search", { q: late, limit: late === "" ? 8 : 50, kinds });
  const { data, failure, old } = useResource<{ items: Found[] }>(address, { keep: true });
  // Enter opens nothing that was found by the words before these.
  const isOfBefore = words !== null && (old || late !== words || (data === undefined && failure === null));
  return { data: isOfBefore ? data?.items.filter((one) => fits(one.title, words)) : data?.items, failure, isOfBefore };
}

function asked(text: string) {
  const words = text.replace(/^[>#@]\s*/, "").trim();
  return {
    words,
    kinds: text.startsWith("#") ? "task" : text.startsWith("@") ? "agent" : null,
    commandsOnly: text.startsWith(">"),
  };
}

function fits(label: string, words: string) {
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => label.toLowerCase().includes(word));
}
