// Which page stands where. Each is a chunk of its own.
import { lazy } from "react";
import type { View } from "./App";

const Ask = lazy(() => import("./pages/ask/Ask"));
const More = lazy(() => import("./pages/More"));
const Run = lazy(() => import("./pages/runs/Run"));
const Runs = lazy(() => import("./pages/runs/Runs"));
const Task = lazy(() => import("./pages/work/Task"));
const Work = lazy(() => import("./pages/work/Work"));

export const ROUTES: [string, View][] = [
  ["/", Ask],
  ["/work", Work],
  ["/work/:id", Task],
  ["/runs", Runs],
  ["/runs/:id", Run],
  ["/more", More],
];
