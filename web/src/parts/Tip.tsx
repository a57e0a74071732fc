import * as Radix from "@radix-ui/react-tooltip";
import type { ReactNode } from "react";

/** A name for what has none on the screen; never a repetition of a visible label. */
export default function Tip({ text, children, side = "right" }: { text: ReactNode; children: ReactNode; side?: "right" | "top" | "bottom" }) {
  return (
    <Radix.Provider delayDuration={400}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content className="tip" side={side} sideOffset={6} collisionPadding={8}>
            {text}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
