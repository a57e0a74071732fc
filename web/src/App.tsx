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

export interface ViewProps {
  params: DefaultParams;
}

const ROUTES: [string, ComponentType<ViewProps>][] = [
  ["/", lazy(() => import("./pages/home/Home"))],
  ["/work", lazy(() => import("./pages/work/Work"))],
  ["/work/:id", lazy(() => import("./pages/work/Task"))],
  ["/runs", lazy(() => import("./pages/runs/Runs"))],
  ["/runs/:id", lazy(() => import("./pages/runs/Run"))],
  ["/runs/:id/:task", lazy(() => import("./pages/review/Review"))],
  ["/agents", lazy(() => import("./pages/agents/Overview"))],
  ["/agents/architecture", lazy(() => import("./pages/agents-architecture/Architecture"))],
  ["/agents/manage", lazy(() => import("./pages/agents-manage/Manage"))],
  ["/agents/chat", lazy(() => import("./pages/agents-chat/Chat"))],
  ["/agents/chat/:id", lazy(() => import("./pages/agents-chat/Chat"))],
  ["/agents/tasks", lazy(() => import("./pages/agents-tasks/Tasks"))],
  ["/more", lazy(() => import("./pages/More"))],
];
