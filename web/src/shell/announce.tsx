// The one polite voice of the page: at most one message in five seconds.
import { create } from "zustand";

const useVoice = create<{ said: string }>()(() => ({ said: "" }));
let at = 0;
let timer = 0;

export function announce(text: string) {
  clearTimeout(timer);
  timer = window.setTimeout(
    () => {
      at = Date.now();
      useVoice.setState({ said: text });
    },
    Math.max(0, at + 5000 - Date.now()),
  );
}

export function Voice() {
  const said = useVoice((voice) => voice.said);
  return (
    <div className="unseen" aria-live="polite">
      {said}
    </div>
  );
}
