import { useState } from "react";
import { Failure } from "./failure";

/** Something that a person does on the server: whether it is on its way, and why it was refused the last time. */
export function useAct<Given extends unknown[]>(act: (...given: Given) => Promise<void>) {
  const [state, setState] = useState<{ busy: boolean; failure: Failure | null }>({ busy: false, failure: null });
  const run = async (...given: Given) => {
    setState((now) => ({ ...now, busy: true }));
    try {
      await act(...given);
      setState({ busy: false, failure: null });
    } catch (fault) {
      setState({ busy: false, failure: Failure.from(fault) });
    }
  };
  return { ...state, run: (...given: Given) => void run(...given), forgive: () => setState((now) => ({ ...now, failure: null })) };
}
