import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { copy } from "./toasts";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "ghost" | "danger" | undefined;
  small?: boolean;
  icon?: IconName;
  /** The key that does the same. */
  shortcut?: string | undefined;
  children?: ReactNode;
}

export function Button({ look, small, icon, shortcut, children, className = "", type = "button", ...rest }: Props) {
  const square = children === undefined;
  const looks = ["button", look, small && "small", square && "square", className].filter(Boolean).join(" ");
  return (
    <button {...rest} type={type} className={looks} {...(square && rest.title === undefined ? { title: rest["aria-label"] } : {})}>
      {icon && <Icon name={icon} />}
      {children}
      {shortcut && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

/** A line for a shell that does the same as the page, ready to be copied. */
export function Command({ line }: { line: string }) {
  return (
    <div className="command">
      <code tabIndex={0}>{line}</code>
      <Button look="ghost" small icon="copy" aria-label={`Copy the command ${line}`} title="Copy" onClick={() => copy(line, "command")} />
    </div>
  );
}

/** What an agent or a program wrote, to the letter; it can be scrolled with keys. */
export function Code({ children }: { children: ReactNode }) {
  return (
    <pre className="code" tabIndex={0}>
      {children}
    </pre>
  );
}

export function TextButton({ className = "", ...rest }: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button {...rest} type="button" className={`link ${className}`} />;
}
