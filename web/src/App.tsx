import { Route, Router, Switch } from "wouter";
import { Ghost } from "./parts/States";
import { navigate, usePlace } from "./router";
import { NotFound, Broken, Page } from "./shell/Page";
import { Shell } from "./shell/Shell";
import { later } from "./parts/later";
import { ROUTES } from "./routes";

const SignIn = later(() => import("./pages/sign-in/SignIn"));
const WAIT = (
  <Page title="cleo">
    <Ghost />
  </Page>
);
const VIEWS = ROUTES.map(([pattern, part]) => [pattern, later(part, WAIT)] as const);

/** A view stays while only the id in its path changes. */
export function App() {
  const { path } = usePlace();
  if (path === "/sign-in") return <SignIn />;
  return (
    <Router aroundNav={(_, to, how) => navigate(to, how)}>
      <Shell>
        <Switch location={path}>
          {VIEWS.map(([pattern, View]) => (
            <Route key={pattern} path={pattern}>
              {(params) => (
                <Broken>
                  <View params={params} />
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
