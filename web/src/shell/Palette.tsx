// Find or run: what the server finds, commands for the selection, then places.
import { Command } from "cmdk";
import { useEffect, useState, type KeyboardEvent } from "react";
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

const ICONS: Record<Found["kind"], IconName> = { task: "work", run: "runs", agent: "manage", conversation: "chat" };
const HEADINGS: [Found["kind"], string][] = [
  ["task", "Tasks"],
  ["run", "Runs"],
  ["agent", "Agents"],
  ["conversation", "Conversations"],
];

export default function Palette() {
  const text = usePalette((state) => state.text);
  const offered = usePalette((state) => state.commands);
  const [chosen, setChosen] = useState("");
  const { words, kinds, commandsOnly } = asked(text);
  const { data, failure } = useFound(commandsOnly ? null : words, kinds);
  const all = [...[...offered.values()].flat(), ...keyed()];
  const commands = all.filter((one, at) => fits(one.label, words) && all.findIndex(({ label }) => label === one.label) === at);
  const places = kinds ? [] : PLACES.filter((place) => fits(place.label, words));

  const first = firstOf(data, commands, places);
  useEffect(() => setChosen(first), [first]);

  /** Once the focus is back where it was: that is what many a command is about. */
  function go(run: () => void) {
    closePalette();
    setTimeout(run);
  }

  /** ⌘C copies the chosen command's line for a shell. */
  function key(event: KeyboardEvent) {
    if (!(event.metaKey || event.ctrlKey) || event.key !== "c" || String(window.getSelection()) !== "") return;
    const cli = commands.find((one) => `> ${one.label}`.toLowerCase() === chosen.toLowerCase())?.cli;
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
          <Command.Input value={text} onValueChange={(typed) => usePalette.setState({ text: typed })} placeholder="Task, run, agent or command" maxLength={200} data-first />
          <kbd>esc</kbd>
        </div>
        <Command.List>
          {failure && <p className="nothing bad">{failure.message}</p>}
          {data && !failure && data.length === 0 && commands.length === 0 && places.length === 0 && <p className="nothing">Nothing here is called “{words}”.</p>}
          {HEADINGS.map(([kind, heading]) => (
            <FoundGroup key={kind} heading={heading} found={(data ?? []).filter((one) => one.kind === kind)} go={go} />
          ))}
          {!kinds && <Commands commands={commands} go={go} />}
          {!commandsOnly && places.length > 0 && (
            <Command.Group heading="Go to">
              {places.map((place) => (
                <Command.Item key={place.href} value={`/ ${place.label}`} onSelect={() => go(() => navigate(place.href))}>
                  <Icon name={place.icon} />
                  <span className="grow ell">{place.label}</span>
                  <kbd>G {place.key}</kbd>
                </Command.Item>
              ))}
            </Command.Group>
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

function FoundGroup({ heading, found, go }: { heading: string; found: Found[]; go: (run: () => void) => void }) {
  if (found.length === 0) return null;
  return (
    <Command.Group heading={heading}>
      {found.map((one) => (
        <Command.Item key={one.id} value={`${one.kind} ${one.id}`} onSelect={() => go(() => navigate(one.href))}>
          {one.state && one.kind !== "agent" && one.kind !== "conversation" ? <StatusGlyph state={stateOf(one.state)} still /> : <Icon name={ICONS[one.kind]} />}
          <span className="ell">{one.title}</span>
          <span className="grow ell small muted">{one.kind === "task" ? [one.id, one.hint].filter(Boolean).join(", ") : one.hint}</span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}

function Commands({ commands, go }: { commands: PaletteCommand[]; go: (run: () => void) => void }) {
  if (commands.length === 0) return null;
  return (
    <Command.Group heading="Do">
      {commands.map((one) => (
        <Command.Item key={one.label} value={`> ${one.label}`} onSelect={() => go(one.run)}>
          <Icon name="play" />
          <span className="ell">{one.label}</span>
          <span className="grow ell mono muted">{one.cli ?? one.hint}</span>
          {one.shortcut && <kbd>{one.shortcut}</kbd>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

/** What the keys of the page under it do. */
function keyed(): PaletteCommand[] {
  const bindings = keysNow().flatMap(({ group, bindings }) => (group === "Everywhere" ? [] : bindings.filter(({ keys }) => keys !== "Alt" && keys !== "Escape")));
  return bindings.map(({ keys, does, run }) => ({ label: does, shortcut: spelled(keys).join(" "), run: () => run(new KeyboardEvent("keydown")) }));
}

function useFound(words: string | null, kinds: string | null) {
  const late = useLate(words, 80);
  const address = late === null ? null : path("/api/search", { q: late, limit: late === "" ? 8 : 50, kinds });
  const { data, failure } = useResource<{ items: Found[] }>(address, { keep: true });
  return { data: data?.items, failure };
}

/** The value of the first row, which Enter opens. */
function firstOf(found: Found[] | undefined, commands: PaletteCommand[], places: { label: string }[]) {
  const one = HEADINGS.flatMap(([kind]) => (found ?? []).filter((item) => item.kind === kind))[0];
  if (one) return `${one.kind} ${one.id}`;
  if (commands[0]) return `> ${commands[0].label}`;
  return places[0] ? `/ ${places[0].label}` : "";
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
