// Which page stands where. Each is a chunk of its own.
import { lazy, type ComponentType } from "react";
import type { DefaultParams } from "wouter";

const Agents = lazy(() => import("./pages/agents/Overview"));
const Architecture = lazy(() => import("./pages/agents-architecture/Architecture"));
const Ask = lazy(() => import("./pages/ask/Ask"));
const Chat = lazy(() => import("./pages/agents-chat/Chat"));
const Manage = lazy(() => import("./pages/agents-manage/Manage"));
const More = lazy(() => import("./pages/More"));
const Run = lazy(() => import("./pages/runs/Run"));
const Runs = lazy(() => import("./pages/runs/Runs"));
const Task = lazy(() => import("./pages/work/Task"));
const Tasks = lazy(() => import("./pages/agents-tasks/Tasks"));
const Work = lazy(() => import("./pages/work/Work"));

export interface ViewProps {
  params: DefaultParams;
}

export const ROUTES: [string, ComponentType<ViewProps>][] = [
  ["/", Ask],
  ["/work", Work],
  ["/work/:id", Task],
  ["/runs", Runs],
  ["/runs/:id", Run],
  ["/agents", Agents],
  ["/agents/architecture", Architecture],
  ["/agents/manage", Manage],
  ["/agents/chat", Chat],
  ["/agents/chat/:id", Chat],
  ["/agents/tasks", Tasks],
  ["/more", More],
];
