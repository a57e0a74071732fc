import { useId, type ChangeEvent, type InputHTMLAttributes, type ReactNode } from "react";
import { Icon } from "./Icon";

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, "children"> {
  label: ReactNode;
  hint?: ReactNode;
  /** Shown in the place of the hint. */
  fault?: ReactNode;
  onText?: (text: string) => void;
  /** Given: one of these is chosen. */
  options?: readonly (string | { value: string; label: string })[];
  offers?: readonly { value: string; label: string }[];
  /** Given: a text of so many lines. */
  rows?: number;
  /** A button after the control. */
  beside?: ReactNode;
  /** A control of another kind. */
  children?: (control: { id: string; "aria-describedby": string | undefined; "aria-invalid": boolean }) => ReactNode;
}

/** A label, its control, its hint, and what is wrong with it. */
export function Field({ label, hint, fault, onText, options, offers, rows, beside, children, className = "", ...rest }: Props) {
  const own = useId();
  const id = rest.id ?? own;
  const about = fault ?? hint;
  const control = { id, "aria-describedby": about ? `${id}-hint` : undefined, "aria-invalid": Boolean(fault) };
  const onChange = (event: ChangeEvent<HTMLInputElement>) => onText?.(event.target.value);
  const all = { autoComplete: "off", ...rest, ...control, className: `input ${className}`, onChange, list: offers && `${id}-offers` } as object;
  const natural = options ? <select {...all}>{options.map(choice)}</select> : rows ? <textarea {...all} rows={rows} /> : <input {...all} />;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {beside ? (
        <div className="row">
          {natural}
          {beside}
        </div>
      ) : (
        (children?.(control) ?? natural)
      )}
      {offers && <datalist id={`${id}-offers`}>{offers.map(choice)}</datalist>}
      {about && (
        <p id={`${id}-hint`} className={fault ? "fault" : "hint"}>
          {about}
        </p>
      )}
    </div>
  );
}

function choice(one: string | { value: string; label: string }) {
  const { value, label } = typeof one === "string" ? { value: one, label: one } : one;
  return (
    <option key={value} value={value}>
      {label}
    </option>
  );
}

interface SearchProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "value"> {
  label: string;
  value: string | null;
  onText: (text: string) => void;
}

/** A field for words that filter or find; what it says while it is empty is its name where nothing else is given. */
export function SearchField({ label, value, onText, ...rest }: SearchProps) {
  return (
    <span className="search-field">
      <Icon name="search" />
      <input placeholder={label} maxLength={200} {...rest} className="input" type="search" aria-label={label} value={value ?? ""} onChange={(event) => onText(event.target.value)} />
    </span>
  );
}
