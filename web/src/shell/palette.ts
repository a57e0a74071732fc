import { create } from "zustand";

interface PaletteState {
  open: boolean;
  /** What stands in the field when it opens. */
  begin: string;
  commands: Map<string, PaletteCommand[]>;
}

export interface PaletteCommand {
  label: string;
  hint?: string;
  shortcut?: string;
  /** The same for a shell. */
  cli?: string;
  run: () => void;
}

export const usePalette = create<PaletteState>()(() => ({ open: false, begin: "", commands: new Map() }));

export function openPalette(begin = "") {
  usePalette.setState({ open: true, begin });
}

export function closePalette() {
  usePalette.setState({ open: false });
}

/** Commands of a page for what is selected on it; an empty list takes them back. */
export function offer(page: string, commands: PaletteCommand[]) {
  const all = new Map(usePalette.getState().commands);
  if (commands.length === 0) all.delete(page);
  else all.set(page, commands);
  usePalette.setState({ commands: all });
}
