import { toast } from "./toasts";

/** Puts text on the clipboard and says so. */
export function copy(text: string, what: string) {
  navigator.clipboard.writeText(text).then(
    () => toast(`Copied ${what}.`),
    () => toast(`The browser did not let cleo copy the ${what}.`),
  );
}
