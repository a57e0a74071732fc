// A form over what the server keeps. What is typed stays in this browser until it is saved, and a change that was made elsewhere is never written over.
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from "react";
import { Button } from "./Button";
import { keepDraft, useDraft } from "./draft";

interface Edited<T> {
  draft: T;
  /** What was kept when it was typed. */
  base: T;
  at: string | null;
}

export type Editing<T extends object> = ReturnType<typeof useEditing<T>>;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields of a draft in which it differs from something else. */
export function differing<T extends object>(one: T, other: T): (keyof T)[] {
  return (Object.keys(one) as (keyof T)[]).filter((field) => !same(one[field], other[field]));
}

/** Over what is kept now: fields that only others changed are theirs, both versions of the rest are kept apart. */
export function rebased<T extends object>({ draft, base, at }: Edited<T>, kept: T, now: string | null): Edited<T> & { both: (keyof T)[] } {
  const mine = differing(draft, base);
  const both = mine.filter((field) => !same(kept[field], base[field]) && !same(kept[field], draft[field]));
  if (both.length > 0) return { draft, base, at, both };
  return { draft: { ...kept, ...since(draft, base) }, base: kept, at: now, both };
}

/** The fields of a draft that were changed since it was something else, as they are now. */
export function since<T extends object>(one: T, other: T) {
  return Object.fromEntries(differing(one, other).map((field) => [field, one[field]])) as Partial<T>;
}

/** `stored` is what the page has of the server, since the moment `version`; `name` is that of the draft. */
export function useEditing<T extends object>(name: string, stored: T, version: string | null) {
  const [typed, setTyped] = useDraft(name);
  // What a save was answered with is newer than what the page has, until that is fetched again.
  const [answer, setAnswer] = useState<{ over: string | null; kept: T; now: string | null } | null>(null);
  const { kept, now } = answer?.over === version ? answer : { kept: stored, now: version };
  const read = (text: string) => rebased(text === "" ? { draft: kept, base: kept, at: now } : (JSON.parse(text) as Edited<T>), kept, now);
  const edit = (change: (edited: Edited<T>) => Edited<T>) =>
    setTyped((text) => {
      const { draft, base, at } = change(read(text));
      return same(draft, base) ? "" : JSON.stringify({ draft, base, at });
    });
  const edited = read(typed);
  const shown = useRef(edited.draft);
  useEffect(() => {
    shown.current = edited.draft;
  });
  return {
    ...edited,
    kept,
    dirty: !same(edited.draft, edited.base),
    put: (fields: Partial<T>) => edit(({ draft, ...rest }) => ({ ...rest, draft: { ...draft, ...fields } })),
    settle: (field: keyof T, isMine: boolean) => edit(({ draft, base, at }) => ({ draft: isMine ? draft : { ...draft, [field]: kept[field] }, base: { ...base, [field]: kept[field] }, at })),
    clear: () => setTyped(""),
    /** `sent` is kept now, as `kept`, under the name `place`: what was typed since it was sent stays a draft. Returns the field of `form` in which somebody still types. */
    saved: (sent: T, kept: T, at: string | null, place: string, form: HTMLFormElement | null) => {
      const later = since(shown.current, sent);
      const text = Object.keys(later).length === 0 ? "" : JSON.stringify({ draft: { ...kept, ...later }, base: kept, at });
      setTyped(place === name ? text : "");
      if (place === name) setAnswer({ over: version, kept, now: at });
      else if (text !== "") keepDraft(place, text);
      return text === "" ? null : (form?.querySelector(":focus")?.getAttribute("name") ?? null);
    },
  };
}

/** Goes to a field of a form when it opens, behind the text that is there. */
export function useFirstField(form: RefObject<HTMLFormElement | null>, name: string | null | undefined) {
  useEffect(() => {
    const field = name ? form.current?.querySelector<HTMLInputElement>(`[name="${name}"]`) : null;
    field?.focus();
    if (field?.type.startsWith("text")) field.setSelectionRange(field.value.length, field.value.length);
  }, [form, name]);
}

/** Ctrl Enter sends a form from any of its fields. */
export function sendByKey(event: KeyboardEvent<HTMLFormElement>) {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

/** The fields that were changed elsewhere too: for each, one of both versions is chosen. */
export function BothVersions<T extends object>({ editing: { both, kept, settle }, labels, onSettled }: { editing: Editing<T>; labels: Partial<Record<keyof T, string>>; onSettled: () => void }) {
  const choose = (field: keyof T, isMine: boolean) => (event: MouseEvent<HTMLButtonElement>) => {
    const { form } = event.currentTarget;
    settle(field, isMine);
    onSettled();
    requestAnimationFrame(() => form?.querySelector<HTMLElement>(`[role=alert] button, [name="${String(field)}"], input`)?.focus());
  };
  if (both.length === 0) return null;
  return (
    <div role="alert">
      {both.map((field) => (
        <div key={String(field)} className="notice wrap">
          <span className="grow text">
            Changed elsewhere while you typed: {(labels[field] ?? String(field)).toLowerCase()} is now “{[kept[field]].flat().join(", ") || "empty"}”.
          </span>
          <Button small onClick={choose(field, true)}>
            Keep mine
          </Button>
          <Button small onClick={choose(field, false)}>
            Take theirs
          </Button>
        </div>
      ))}
    </div>
  );
}

/** Closes a form; what was typed since it was saved goes. */
export function Discard({ dirty, onDiscard, onClose }: { dirty: boolean; onDiscard: () => void; onClose?: (() => void) | undefined }) {
  if (!dirty && !onClose) return null;
  return (
    <Button
      onClick={() => {
        onDiscard();
        onClose?.();
      }}
    >
      {dirty ? "Discard" : "Close"}
    </Button>
  );
}
