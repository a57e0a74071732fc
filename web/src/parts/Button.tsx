import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "ghost" | "danger" | undefined;
  small?: boolean;
  icon?: IconName;
  /** The key that does the same. */
  shortcut?: string;
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
