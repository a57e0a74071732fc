// The browser's own dialog in front of the page: it keeps the focus inside and gives it back.
import { useEffect, type RefObject } from "react";

/** Opens a dialog for as long as it is there. What is marked `data-first` gets the focus: by itself it would go to the first element that can have it. */
export function useModal(ref: RefObject<HTMLDialogElement | null>) {
  useEffect(() => {
    const opener = openerNow();
    const dialog = ref.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, [ref]);
}

/** What has the focus; of a menu, which is gone when the dialog closes, its button. */
function openerNow(): Element | null {
  const focused = document.activeElement;
  const menu = focused?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
}
