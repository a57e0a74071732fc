import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  label: ReactNode;
  icon?: IconName;
  shortcut?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Given: an item that can be on or off, and the menu stays open. */
  checked?: boolean;
  onSelect: () => void;
}

/** `null` between items draws a line; a text is a heading. */
export type MenuEntry = MenuItem | string | null;

export function Menu({ trigger, entries, label, align = "end" }: { trigger: ReactNode; entries: MenuEntry[]; label?: string; align?: "start" | "end" }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align={align} sideOffset={4} collisionPadding={8} {...(label ? { "aria-label": label } : {})}>
          {entries.map((entry, i) => (
            <Entry key={i} entry={entry} />
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Entry({ entry }: { entry: MenuEntry }) {
  if (entry === null) return <Radix.Separator className="rule" />;
  if (typeof entry === "string") return <Radix.Label className="label">{entry}</Radix.Label>;
  if (entry.checked !== undefined) return <Choice entry={entry} checked={entry.checked} />;
  return (
    <Radix.Item className={entry.danger ? "bad" : ""} disabled={entry.disabled ?? false} onSelect={entry.onSelect}>
      {entry.icon && <Icon name={entry.icon} />}
      <span className="grow ell">{entry.label}</span>
      {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
    </Radix.Item>
  );
}

function Choice({ entry, checked }: { entry: MenuItem; checked: boolean }) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      onCheckedChange={entry.onSelect}
      onSelect={(event) => event.preventDefault()}
    >
      <span className="tick"><Radix.ItemIndicator><Icon name="check" /></Radix.ItemIndicator></span>
      <span className="grow ell">{entry.label}</span>
    </Radix.CheckboxItem>
  );
}
