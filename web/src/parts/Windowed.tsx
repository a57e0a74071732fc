// Long lists are windowed: only what is seen exists. Short ones are plain.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, type ReactNode, type RefObject } from "react";

interface Props<T> {
  items: readonly T[];
  /** The element that scrolls. */
  scroller: RefObject<HTMLElement | null>;
  size: (item: T, index: number) => number;
  itemKey: (item: T, index: number) => string;
  children: (item: T, index: number) => ReactNode;
  /** Scrolled to when it changes. */
  reveal?: number | undefined;
  overscan?: number;
  className?: string;
  role?: string;
  label?: string;
}

export function Windowed<T>({ items, scroller, size, itemKey, children, reveal, overscan = 12, className, role = "list", label }: Props<T>) {
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => size(items[i] as T, i),
    getItemKey: (i) => itemKey(items[i] as T, i),
    overscan,
  });
  useEffect(() => {
    if (reveal !== undefined && reveal >= 0) rows.scrollToIndex(reveal, { align: "auto" });
  }, [reveal, rows]);
  return (
    <div className={`windowed ${className ?? ""}`} role={role} aria-label={label} style={{ height: rows.getTotalSize(), position: "relative" }}>
      {rows.getVirtualItems().map((row) => (
        <div
          key={row.key}
          role={role === "list" ? "listitem" : undefined}
          aria-setsize={role === "list" ? items.length : undefined}
          aria-posinset={role === "list" ? row.index + 1 : undefined}
          style={{ position: "absolute", top: 0, left: 0, right: 0, height: row.size, transform: `translateY(${row.start}px)` }}
        >
          {children(items[row.index] as T, row.index)}
        </div>
      ))}
    </div>
  );
}
