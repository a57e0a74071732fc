// How wide the window is, and what points at it: what is windowed has a height before it is drawn.

export const phone = window.matchMedia("(max-width: 720px)");
/** A finger, which needs 44 pixels. */
export const coarse = window.matchMedia("(pointer: coarse)");
