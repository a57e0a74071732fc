// One line, one action, five seconds. What needs an answer is never said here.
import { create } from "zustand";

export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

export const useToasts = create<{ toasts: Toast[] }>()(() => ({ toasts: [] }));

let next = 1;

export function toast(text: string, action?: Toast["action"]) {
  const one: Toast = action ? { id: next++, text, action } : { id: next++, text };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, one].slice(-3) }));
}

export function dropToast(id: number) {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) }));
}
