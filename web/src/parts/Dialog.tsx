// A window in front of the page with a title; Esc and a click beside it close it.
import { useEffect, useId, useRef, type FormEvent, type PointerEvent, type ReactNode, type SyntheticEvent } from "react";
import { Button } from "./Button";
import { useAct } from "../api/resource";
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

interface FormProps {
  title: string;
  /** The verb. */
  action: string;
  /** Does it; then the dialog closes. Why that failed is said in it. */
  act: () => unknown;
  danger?: boolean;
  disabled?: boolean;
  /** Beside the verb; closes it when not given. */
  other?: ReactNode;
  onClose: () => void;
  children?: ReactNode;
}

/** A dialog whose fields are sent with Enter or its verb. */
export function FormDialog({ title, action, act, danger = false, disabled = false, other, onClose, children }: FormProps) {
  const [submit, { busy, failure }] = useAct(async (event: FormEvent) => {
    event.preventDefault();
    await act();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        {failure && <Trouble failure={failure} />}
        <footer>
          {other ?? <Button onClick={onClose}>Close</Button>}
          <Button look={danger ? "danger" : "primary"} type="submit" disabled={disabled || busy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** A question with the name of the thing ("Delete agent Lore keeper?"), and under it what stays and what goes. */
export function Confirm(props: FormProps) {
  const keep = (
    <Button onClick={props.onClose} data-first>
      Keep
    </Button>
  );
  return <FormDialog {...props} other={keep} />;
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
