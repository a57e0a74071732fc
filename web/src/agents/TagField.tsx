import { useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../parts/Icon";
import { withTags } from "./draft";
import "./tagfield.css";

interface Props {
  id: string;
  tags: readonly string[];
  onChange: (tags: string[]) => void;
  onBlur?: () => void;
  describedBy: string;
  invalid: boolean;
  /** What one of them is called. */
  noun: string;
}

/** Words as chips: Enter or a comma adds one, Backspace in the empty field takes the last away. */
export function TagField({ id, tags, onChange, onBlur, describedBy, invalid, noun }: Props) {
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
    <div className="tag-field input" aria-invalid={invalid} onClick={() => field.current?.focus()}>
      {tags.map((tag) => (
        <span key={tag} className="chip">
          <span className="ell">{tag}</span>
          <button type="button" aria-label={`Remove ${noun} ${tag}`} onClick={() => remove(tag)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      <input
        id={id}
        ref={field}
        value={typed}
        aria-describedby={describedBy}
        aria-invalid={invalid}
        autoComplete="off"
        onChange={(event) => (/[,;\n]/.test(event.target.value) ? add(event.target.value) : setTyped(event.target.value))}
        onKeyDown={keys}
        onBlur={() => {
          add(typed);
          onBlur?.();
        }}
      />
    </div>
  );
}
