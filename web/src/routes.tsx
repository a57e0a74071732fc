// Which page stands where. Each is a chunk of its own.
import { lazy } from "react";
import type { View } from "./App";

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

export const ROUTES: [string, View][] = [
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
