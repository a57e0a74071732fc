import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button } from "../../parts/Button";

interface Props {
  /** Under which the text is kept until it is sent. */
  draft: string;
  label: string;
  busy: boolean;
  /** Ends the answer that is coming; none when nothing is. */
  onStop: (() => void) | null;
  onSend: (text: string) => void;
  onTyping?: (isEmpty: boolean) => void;
  children?: ReactNode;
}

/** The field in which a message is written. What is typed is never lost. */
export function Composer({ draft, label, busy, onStop, onSend, onTyping, children }: Props) {
  const [text, setText] = useState(() => kept(draft));
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => keep(draft, text), [draft, text]);
  useEffect(() => onTyping?.(text === ""), [text, onTyping]);
  useEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, 200)}px`;
  }, [text]);
  const submit = () => {
    if (busy || text.trim() === "") return;
    setText("");
    keep(draft, "");
    onSend(text);
    field.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && onStop) {
      event.preventDefault();
      onStop();
    }
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label className="unseen" htmlFor={id}>
        {label}
      </label>
      <textarea id={id} ref={field} className="input" rows={1} value={text} placeholder="Message" onChange={(event) => setText(event.target.value)} onKeyDown={keys} />
      {children}
      {onStop ? (
        <Button icon="stop" shortcut="Esc" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button look="primary" type="submit" disabled={busy || text.trim() === ""} shortcut="↵">
          Send
        </Button>
      )}
    </form>
  );
}

const KEY = "cleo.draft.";

function kept(draft: string): string {
  try {
    return sessionStorage.getItem(KEY + draft) ?? "";
  } catch {
    return "";
  }
}

function keep(draft: string, text: string) {
  try {
    if (text === "") sessionStorage.removeItem(KEY + draft);
    else sessionStorage.setItem(KEY + draft, text);
  } catch {
    // Without storage a draft lives as long as the page.
  }
}

/** Puts a text back that could not be sent. */
export function restore(draft: string, text: string) {
  keep(draft, text);
}
