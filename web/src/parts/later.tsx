import { lazy, Suspense, useState, type ComponentType, type ReactNode } from "react";
import { code, type Code } from "../routes";

/** A part whose code comes when it is shown first. Until then there is the fallback, which React keeps for at least 300 ms: code that is there is drawn without it. */
export function later<Props extends object>(of: Code<Props> | (() => Promise<{ default: ComponentType<Props> }>), fallback: ReactNode = null) {
  const part = typeof of === "function" ? code(of) : of;
  const Lazy = lazy(part.load) as unknown as ComponentType<Props>;
  return (props: Props) => {
    const [Part] = useState(() => part.there ?? Lazy);
    return (
      <Suspense fallback={fallback}>
        <Part {...props} />
      </Suspense>
    );
  };
}
