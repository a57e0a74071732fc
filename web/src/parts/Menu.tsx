// A button with a menu. What draws the menu is fetched with the first one that is opened.
import { cloneElement, lazy, Suspense, useState, type ReactElement, type ReactNode } from "react";
import type { IconName } from "./Icon";

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

export interface MenuProps {
  trigger: ReactElement<Record<string, unknown>>;
  entries: MenuEntry[];
  label?: string;
  align?: "start" | "end";
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
  if (!opened) return closed;
  return (
    <Suspense fallback={closed}>
      <MenuOpen {...props} open={open} onOpen={onOpen} />
    </Suspense>
  );
}
