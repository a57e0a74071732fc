import { lazy, Suspense, type ComponentType } from "react";
import { Route, Router, Switch, type DefaultParams } from "wouter";
import { Ghost } from "./parts/States";
import { navigate, usePlace } from "./router";
import { NotFound, Broken, Page } from "./shell/Page";
import { Shell } from "./shell/Shell";
import { later } from "./parts/later";

const SignIn = later(() => import("./pages/sign-in/SignIn"));

/** A view stays while only the id in its path changes. */
export function App() {
  const { path } = usePlace();
  if (path === "/sign-in") return <SignIn />;
  return (
    <Router aroundNav={(_, to, how) => navigate(to, how)}>
      <Shell>
        <Switch location={path}>
          {ROUTES.map(([pattern, View]) => (
            <Route key={pattern} path={pattern}>
              {(params) => (
                <Broken>
                  <Suspense
                    fallback={
                      <Page title="cleo">
                        <Ghost />
                      </Page>
                    }
                  >
                    <View params={params} />
                  </Suspense>
                </Broken>
              )}
            </Route>
          ))}
          <Route>
            <NotFound path={path} />
          </Route>
        </Switch>
      </Shell>
    </Router>
  );
}

const Agents = lazy(() => import("./pages/agents/Overview"));
const Architecture = lazy(() => import("./pages/agents-architecture/Architecture"));
const Chat = lazy(() => import("./pages/agents-chat/Chat"));
const Home = lazy(() => import("./pages/home/Home"));
const Manage = lazy(() => import("./pages/agents-manage/Manage"));
const More = lazy(() => import("./pages/More"));
const Review = lazy(() => import("./pages/review/Review"));
const Run = lazy(() => import("./pages/runs/Run"));
const Runs = lazy(() => import("./pages/runs/Runs"));
const Task = lazy(() => import("./pages/work/Task"));
const Tasks = lazy(() => import("./pages/agents-tasks/Tasks"));
const Work = lazy(() => import("./pages/work/Work"));

export interface ViewProps {
  params: DefaultParams;
}

const ROUTES: [string, ComponentType<ViewProps>][] = [
  ["/", Home],
  ["/work", Work],
  ["/work/:id", Task],
  ["/runs", Runs],
  ["/runs/:id", Run],
  ["/runs/:id/:task", Review],
  ["/agents", Agents],
  ["/agents/architecture", Architecture],
  ["/agents/manage", Manage],
  ["/agents/chat", Chat],
  ["/agents/chat/:id", Chat],
  ["/agents/tasks", Tasks],
  ["/more", More],
];
