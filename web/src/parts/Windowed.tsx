import { useVirtualizer } from "@tanstack/react-virtual";
import { startTransition, useEffect, useRef, useState, type ReactNode, type RefObject } from "react";

interface Props<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  heightOf: (item: T) => number;
  className: string;
  /** Items are as high as they are drawn; `heightOf` is about that. */
  measured?: boolean;
  /** Its name for those who do not see it. */
  label: string;
  at?: number;
  /** Fetches more; called when the last items come near. */
  end?: (() => void) | undefined;
  scroller?: RefObject<HTMLDivElement | null>;
  children: (item: T, at: number) => ReactNode;
  foot?: ReactNode;
}

/** A long list of which only what is in sight exists. */
export function Windowed<T>({ items, keyOf, heightOf, className, measured = false, label, at = -1, end, scroller, children, foot }: Props<T>) {
  const own = useRef<HTMLDivElement>(null);
  const box = scroller ?? own;
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => void setTimeout(() => startTransition(() => setDrawn(true))), []);
  const list = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => heightOf(items[i] as T),
    getItemKey: (i) => keyOf(items[i] as T),
    // Told by the observer, once everything is laid out: to ask each row lays the page out for each.
    measureElement: (row, entry, { measurementsCache }) => entry?.borderBoxSize[0]?.blockSize ?? measurementsCache[Number(row.dataset["index"])]?.size ?? 0,
    overscan: isDrawn ? (measured ? 6 : 16) : 0,
    // About what is in sight, so that it is there with the page and not with a second drawing; the rest comes after that.
    initialRect: { width: 0, height: window.innerHeight - 200 },
  });
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at, { align: "auto" });
  }, [at, list]);
  const shown = list.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (end && last > items.length - 20) end();
  }, [end, last, items.length]);
  return (
    <div ref={box} className={`windowed ${className}`} tabIndex={0} role="group" aria-label={label}>
      <ul style={{ height: list.getTotalSize() }}>
        {shown.map(({ key, index, start, size }) => (
          <li
            key={key}
            ref={measured ? list.measureElement : undefined}
            data-index={index}
            style={{ transform: `translateY(${start}px)`, height: measured ? undefined : size }}
            aria-setsize={items.length}
            aria-posinset={index + 1}
          >
            {children(items[index] as T, index)}
          </li>
        ))}
      </ul>
      {foot}
    </div>
  );
}
