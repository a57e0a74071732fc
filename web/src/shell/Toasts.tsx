import { useEffect, useState } from "react";
import { dropToast, useToasts, type Toast } from "../parts/toasts";

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
