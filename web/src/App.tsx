import { lazy, Suspense } from "react";
import { Route, Router, Switch } from "wouter";
import { Ghost } from "./parts/States";
import { navigate, usePlace } from "./router/location";
import { NotFound } from "./pages/NotFound";
import { Broken } from "./shell/Broken";
import { Page } from "./shell/Page";
import { Shell } from "./shell/Shell";
import { ROUTES } from "./routes";

const SignIn = lazy(() => import("./pages/sign-in/SignIn"));

/** One view goes on while only the id in its path changes. */
export function App() {
  const { path } = usePlace();
  if (path === "/sign-in")
    return (
      <Suspense fallback={null}>
        <SignIn />
      </Suspense>
    );
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
