import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Empty, Failed } from "./parts/state";
import { Shell } from "./shell/shell";

const root = createRootRoute({
  component: Shell,
  errorComponent: ({ error }) => <Failed error={error instanceof Error ? error : new Error(String(error))} />,
  notFoundComponent: () => (
    <Empty title="There is nothing here" level="page">
      Choose a page above.
    </Empty>
  ),
});

/**
 * A page in a file of its own. Once the first is there, the others are fetched in a quiet moment: who goes to one while the
 * server is away finds it.
 */
const lazy: typeof lazyRouteComponent = (load, name) => {
  const component = lazyRouteComponent(load, name);
  waiting.push(() => void component.preload?.());
  return component;
};
const waiting: (() => void)[] = [];

window.addEventListener("load", () => {
  const fetchAll = () => {
    for (const fetchOne of waiting) fetchOne();
  };
  if ("requestIdleCallback" in window) requestIdleCallback(fetchAll, { timeout: 5000 });
  else setTimeout(fetchAll, 1000);
});

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

export interface ListSearch {
  q?: string;
  namespace?: string;
  state?: string;
  cluster?: string;
}

/** What is searched for is in the address, so that it can be sent to somebody. */
function listSearch(search: Record<string, unknown>): ListSearch {
  const found: ListSearch = {};
  for (const name of ["q", "namespace", "state", "cluster"] as const) {
    const value = text(search[name]);
    if (value) found[name] = value;
  }
  return found;
}

const pages = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    validateSearch: listSearch,
    component: lazy(() => import("./pipelines/page"), "PipelinesPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/fleet",
    validateSearch: listSearch,
    component: lazy(() => import("./versions/fleet"), "FleetPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/versions",
    validateSearch: listSearch,
    component: lazy(() => import("./versions/page"), "VersionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/pipelines/$namespace/$name",
    component: lazy(() => import("./pipeline/page"), "PipelinePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/pipelines/$namespace/$name/history/$environment",
    component: lazy(() => import("./promotion/history"), "HistoryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/promotions",
    component: lazy(() => import("./promotion/list"), "PromotionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/promotions/$namespace/$name",
    component: lazy(() => import("./promotion/page"), "PromotionPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/proposals",
    component: lazy(() => import("./proposal/list"), "ProposalsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/proposals/$namespace/$name",
    component: lazy(() => import("./proposal/page"), "ProposalPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/define",
    component: lazy(() => import("./define/page"), "DefinePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/drafts/$namespace/$name",
    component: lazy(() => import("./define/draft"), "DraftPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/freezes",
    component: lazy(() => import("./freezes/page"), "FreezesPage"),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(pages),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
