import * as Radix from "@radix-ui/react-dropdown-menu";
import { Icon } from "./Icon";
import type { MenuEntry, MenuProps } from "./Menu";

/** The open menu; it comes with the first click on any of them. */
export default function MenuOpen({ trigger, entries, label, align = "end", open, onOpen }: MenuProps & Required<Pick<MenuProps, "open" | "onOpen">>) {
  return (
    <Radix.Root modal={false} open={open} onOpenChange={onOpen}>
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
  if (entry.checked !== undefined)
    return (
      <Radix.CheckboxItem checked={entry.checked} onCheckedChange={entry.onSelect} onSelect={(event) => event.preventDefault()}>
        <span className="tick">
          <Radix.ItemIndicator>
            <Icon name="check" />
          </Radix.ItemIndicator>
        </span>
        <span className="grow ell">{entry.label}</span>
      </Radix.CheckboxItem>
    );
  return (
    <Radix.Item className={entry.danger ? "bad" : ""} disabled={entry.disabled ?? false} onSelect={entry.onSelect}>
      {entry.icon && <Icon name={entry.icon} />}
      <span className="grow ell">{entry.label}</span>
      {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
    </Radix.Item>
  );
}
