// A window in front of the page with a title; Esc and a click beside it close it.
import { useEffect, useId, useRef, type PointerEvent, type ReactNode, type SyntheticEvent } from "react";
import { Button } from "./Button";
import type { Failure } from "../api/request";
import { Trouble } from "./States";

export function Dialog({ title, onClose, wide, children }: { title: string; onClose: () => void; wide?: boolean; children: ReactNode }) {
  const name = useId();
  return (
    <dialog {...useModal(onClose)} className={wide ? "dialog wide" : "dialog"} aria-labelledby={name}>
      <div>
        <header className="row">
          <h2 id={name} className="grow">
            {title}
          </h2>
          <Button look="ghost" small icon="close" aria-label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface AskingProps {
  title: string;
  /** The verb. */
  action: string;
  failure?: Failure | null;
  onClose: () => void;
  children?: ReactNode;
}

interface FormProps extends AskingProps {
  disabled?: boolean;
  /** Beside the verb; closes it when not given. */
  other?: ReactNode;
  onSubmit: () => void;
}

/** A dialog whose fields are sent with Enter or its verb. */
export function FormDialog({ title, action, disabled = false, failure, other, onSubmit, onClose, children }: FormProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        {failure && <Trouble failure={failure} />}
        <footer>
          {other ?? <Button onClick={onClose}>Close</Button>}
          <Button look="primary" type="submit" disabled={disabled}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ConfirmProps extends AskingProps {
  danger?: boolean;
  busy?: boolean;
  onConfirm: () => void;
}

/** A question with the name of the thing ("Delete agent Lore keeper?"), and under it what stays and what goes. */
export function Confirm({ title, children, action, danger, busy = false, failure, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {failure && <Trouble failure={failure} />}
      <footer>
        <Button onClick={onClose} data-first>
          Keep
        </Button>
        <Button look={danger ? "danger" : "primary"} disabled={busy} onClick={onConfirm}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}

/** Opens a dialog for as long as it is there. What is marked `data-first` gets the focus: by itself it would go to the first element that can have it. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = openerNow();
    const dialog = ref.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return {
    ref,
    onCancel: (event: SyntheticEvent) => {
      event.preventDefault();
      onClose();
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.target === ref.current) onClose();
    },
  };
}

/** What has the focus; of a menu, which is gone when the dialog closes, its button. */
function openerNow(): Element | null {
  const focused = document.activeElement;
  const menu = focused?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
}
