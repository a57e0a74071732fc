import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { navigate } from "./location";

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; replace?: boolean };

/** A real link: a plain click stays in the application, every other click is the browser's. */
export function Link({ replace = false, onClick, ...rest }: Props) {
  function click(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event);
    if (event.defaultPrevented || !isPlain(event)) return;
    event.preventDefault();
    navigate(rest.href, { replace });
  }
  return <a {...rest} onClick={click} />;
}

function isPlain(event: MouseEvent) {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
