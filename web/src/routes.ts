// The pages, each with its code. The code of the page that is opened is asked for before anything else is run.
import type { ComponentType } from "react";
import type { DefaultParams } from "wouter";

declare global {
  interface Window {
    /** What index.html did before this code was there. */
    early?: { keys: KeyboardEvent[]; hear: (event: KeyboardEvent) => void; answers: Record<string, Promise<unknown>> };
  }
}

export interface ViewProps {
  params: DefaultParams;
}

/** Asks for the code of a part, and keeps what has come at hand. */
export function code<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  const part = {
    there: null as ComponentType<Props> | null,
    load: async () => {
      const come = await load();
      part.there = come.default;
      return come;
    },
  };
  return part;
}

export type Code<Props> = ReturnType<typeof code<Props>>;

const chat = code<ViewProps>(() => import("./pages/agents-chat/Chat"));

export const ROUTES: [pattern: string, Code<ViewProps>][] = [
  ["/", code<ViewProps>(() => import("./pages/home/Home"))],
  ["/work", code<ViewProps>(() => import("./pages/work/Work"))],
  ["/work/:id", code<ViewProps>(() => import("./pages/work/Task"))],
  ["/runs", code<ViewProps>(() => import("./pages/runs/Runs"))],
  ["/runs/:id", code<ViewProps>(() => import("./pages/runs/Run"))],
  ["/runs/:id/:task", code<ViewProps>(() => import("./pages/review/Review"))],
  ["/logs", code<ViewProps>(() => import("./pages/runs/Logs"))],
  ["/agents", code<ViewProps>(() => import("./pages/agents/Overview"))],
  ["/agents/architecture", code<ViewProps>(() => import("./pages/agents-architecture/Architecture"))],
  ["/agents/manage", code<ViewProps>(() => import("./pages/agents-manage/Manage"))],
  ["/agents/chat", chat],
  ["/agents/chat/:id", chat],
  ["/agents/tasks", code<ViewProps>(() => import("./pages/agents-tasks/Tasks"))],
  ["/more", code<ViewProps>(() => import("./pages/More"))],
];

const asked = ROUTES.find(([pattern]) => new RegExp(`^${pattern.replace(/:\w+/g, "[^/]+")}/?$`).test(window.location.pathname));

/** Ends when the code of the page that was opened is there, or cannot be fetched. */
export const opened = Promise.resolve(asked?.[1].load()).catch(() => undefined);
