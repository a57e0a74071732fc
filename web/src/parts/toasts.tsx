import { useEffect, useState } from "react";
import { create } from "zustand";

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className="toasts" role="status">
      {toasts.map((toast) => (
        <One key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

/** Goes after five seconds, but not under a pointer or the focus. */
function One({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => dropToast(toast.id), 5000);
    return () => clearTimeout(timer);
  }, [held, toast.id]);
  function act() {
    dropToast(toast.id);
    toast.action?.run();
  }
  return (
    <div className="toast" onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)} onFocus={() => setHeld(true)} onBlur={() => setHeld(false)}>
      <span>{toast.text}</span>
      {toast.action && (
        <button type="button" onClick={act}>
          {toast.action.label}
        </button>
      )}
    </div>
  );
}

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

const useToasts = create<{ toasts: Toast[] }>()(() => ({ toasts: [] }));

let next = 1;

export function toast(text: string, action?: Toast["action"]) {
  const one: Toast = action ? { id: next++, text, action } : { id: next++, text };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, one].slice(-3) }));
}

function dropToast(id: number) {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) }));
}

/** Puts text on the clipboard and says so. */
export function copy(text: string, what: string) {
  navigator.clipboard.writeText(text).then(
    () => toast(`Copied ${what}.`),
    () => toast(`The browser did not let cleo copy the ${what}.`),
  );
}
