// A window in front of the page with a title; Esc and a click beside it close it.
import { useId, useRef, type ReactNode } from "react";
import { Button } from "./Button";
import { useModal } from "./modal";

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

export function Dialog({ title, onClose, wide, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const name = useId();
  useModal(ref);
  return (
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
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

interface ConfirmProps {
  /** The question with the name of the thing: "Delete agent Lore keeper?" */
  title: string;
  /** What stays and what goes. */
  children?: ReactNode;
  /** The verb. */
  action: string;
  danger?: boolean;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, children, action, danger, busy = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
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
