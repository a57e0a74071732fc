import { lazy, Suspense, type ComponentType, type LazyExoticComponent, type ReactNode } from "react";
import { Ghost } from "./parts/States";
import { usePlace } from "./router/location";
import { match, type Params } from "./router/match";
import { NotFound } from "./pages/NotFound";
import { Broken } from "./shell/Broken";
import { Page } from "./shell/Page";
import { Shell } from "./shell/Shell";
import { ROUTES } from "./routes";

const SignIn = lazy(() => import("./pages/sign-in/SignIn"));

export function App() {
  const { path } = usePlace();
  if (path === "/sign-in") return <Suspense fallback={null}><SignIn /></Suspense>;
  return (
    <Shell>
      <Routed path={path} />
    </Shell>
  );
}

/** One view goes on while only the id in its path changes. */
function Routed({ path }: { path: string }) {
  for (const [pattern, View] of ROUTES) {
    const params = match(pattern, path);
    if (params) return <Whole key={pattern}><View params={params} /></Whole>;
  }
  return <NotFound path={path} />;
}

function Whole({ children }: { children: ReactNode }) {
  return (
    <Broken>
      <Suspense fallback={<Page title="cleo"><Ghost /></Page>}>{children}</Suspense>
    </Broken>
  );
}

export type View = ComponentType<{ params: Params }> | LazyExoticComponent<ComponentType<{ params: Params }>>;
