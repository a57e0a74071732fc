// One line each, 16 by 16, stroke 1.4.
const PATHS = {
  work: "M2.5 4.5h4v3h-4zM9.5 2.5h4v3h-4zM9.5 10.5h4v3h-4zM6.5 6h1.2c.8 0 .8-2 1.8-2M7.7 6c.8 0 .8 6 1.8 6",
  runs: "M2.5 3.5h6M5.5 8h7M8.5 12.5h5",
  overview: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z",
  architecture: "M8 2v3M8 5a1.8 1.8 0 1 0 0 3.6A1.8 1.8 0 0 0 8 5zM6.6 8l-3 4.5M9.4 8l3 4.5M8 8.6v4",
  manage: "M5.5 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM1.8 13c.3-2.3 1.8-3.5 3.7-3.5S8.9 10.7 9.2 13M10.5 7.5h4M12.5 5.5v4",
  chat: "M2.5 3.5h11v7.5h-6l-3 2.5v-2.5h-2z",
  board: "M2.5 3h3v10h-3zM6.5 3h3v6.5h-3zM10.5 3h3v8h-3z",
  ask: "M3 4h10M3 8h7M3 12h4",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3",
  sun: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.8v1.2M8 13v1.2M1.8 8H3M13 8h1.2M3.6 3.6l.9.9M11.5 11.5l.9.9M12.4 3.6l-.9.9M4.5 11.5l-.9.9",
  moon: "M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6z",
  screen: "M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5",
  right: "M6 4l4 4-4 4",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  play: "M5 3.5l7 4.5-7 4.5z",
  stop: "M4.5 4.5h7v7h-7z",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  check: "M3.5 8.5l3 3 6-7",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  open: "M6 3.5H3.5v9h9V10M9 3.5h3.5V7M12.5 3.5L7.5 8.5",
  again: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.8 2.5v2.6h-2.6",
  sidebar: "M2.5 3h11v10h-11zM6 3v10",
  edit: "M3 13l.6-2.6L10.8 3.2l2 2L5.6 12.4zM9.5 4.5l2 2",
  trash: "M3.5 4.5h9M6.5 4.5v-1.5h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
