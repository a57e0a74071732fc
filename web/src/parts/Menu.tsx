// A button with a menu. What draws the menu is fetched with the first one that is opened.
import { cloneElement, lazy, Suspense, useState, type ReactElement, type ReactNode } from "react";
import { Offer } from "../shell/places";
import type { IconName } from "./Icon";

export interface MenuItem {
  label: ReactNode;
  icon?: IconName;
  shortcut?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Given: an item that can be on or off, and the menu stays open. */
  checked?: boolean;
  /** The command that does the same. */
  cli?: string;
  onSelect: () => void;
}

/** `null` between items draws a line; a text is a heading. */
export type MenuEntry = MenuItem | string | null;

export interface MenuProps {
  trigger: ReactElement<Record<string, unknown>>;
  entries: MenuEntry[];
  label?: string;
  align?: "start" | "end";
  /** What its items are done with: the palette has them too. */
  offer?: string | undefined;
  /** Given, with `onOpen`, by who opens it in another way as well, such as with a key. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
}

const load = () => import("./MenuOpen");
const MenuOpen = lazy(load);

export function Menu(props: MenuProps) {
  const [own, setOwn] = useState(false);
  const { open = own, onOpen = setOwn } = props;
  const [opened, setOpened] = useState(open);
  if (open && !opened) setOpened(true);
  const closed = cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: () => void load(),
    onClick: () => onOpen(true),
  });
  const items = props.entries.filter((entry) => entry !== null && typeof entry === "object");
  const commands = items.map(({ label, onSelect, ...rest }) => ({ ...rest, label: `${String(label).replace("…", "")}: ${props.offer}`, run: onSelect }));
  return (
    <>
      {props.offer !== undefined && <Offer part={props.label ?? props.offer} commands={commands} />}
      {opened ? (
        <Suspense fallback={closed}>
          <MenuOpen {...props} open={open} onOpen={onOpen} />
        </Suspense>
      ) : (
        closed
      )}
    </>
  );
}
