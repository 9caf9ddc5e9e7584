/** What is around every page: where one can go, who one is, and whether what is shown is live. */
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { QuestionHost } from "../actions/dialog";
import { status } from "../api/queries";
import { useConnection } from "../live/live";
import { session } from "../session/session";
import { THEMES, type Theme, useTheme } from "./theme";
import { Told } from "./told";

const PAGES = [
  ["/", "Pipelines"],
  ["/fleet", "Fleet"],
  ["/versions", "Versions"],
  ["/promotions", "Promotions"],
  ["/proposals", "Proposals"],
  ["/freezes", "Freezes"],
] as const;

/** Says where one is. Whoever goes to another page by keyboard begins at its top, and not at the end of the one before. */
function useArrival() {
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    document.title = `${titleOf(pathname)} · Weir`;
    if (before.current === pathname) return;
    before.current = pathname;
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [pathname]);
}

/** What a page is about, for tabs, history and those who hear it. */
function titleOf(pathname: string): string {
  const [kind = "", namespace, name, , environment] = pathname.split("/").slice(1);
  if (kind === "define") return "New pipeline";
  const page = PAGES.find(([path]) => path === `/${kind}`)?.[1] ?? "";
  if (!namespace || !name) return page || "Pipelines";
  const what = `${decodeURIComponent(namespace)}/${decodeURIComponent(name)}`;
  return environment ? `History of ${decodeURIComponent(environment)}, ${what}` : what;
}

export function Shell() {
  useArrival();
  return (
    <div className="flex min-h-screen flex-col">
      <a href="#main" className="button sr-only focus:not-sr-only focus:absolute focus:m-2">
        Skip to the page
      </a>
      <header className="border-b border-line bg-card">
        <div className="mx-auto flex max-w-[160rem] flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2">
          <Link to="/" className="flex items-center gap-2 font-semibold">
            <img src="/icon.svg" alt="" width="24" height="24" />
            Weir
          </Link>
          <nav aria-label="Pages" className="flex flex-wrap gap-1">
            {PAGES.map(([to, name]) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ exact: to === "/" }}
                className="rounded px-2 py-1 hover:bg-raised"
                activeProps={{ className: "bg-raised font-semibold", "aria-current": "page" }}
              >
                {name}
              </Link>
            ))}
          </nav>
          <div className="ml-auto flex flex-wrap items-center gap-3 text-sm">
            <ConnectionSign />
            <ThemeChoice />
            <Who />
          </div>
        </div>
      </header>
      <Problems />
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[160rem] flex-1 p-4 outline-none">
        <QuestionHost>
          <Outlet />
        </QuestionHost>
      </main>
      <Told />
    </div>
  );
}

const CONNECTIONS = {
  connecting: ["…", "text-muted", "Connecting"],
  live: ["●", "text-good", "Live"],
  lost: ["○", "text-bad", "Connection lost; trying again"],
} as const;

function ConnectionSign() {
  const { state, why } = useConnection();
  const [sign, tone, words] = CONNECTIONS[state];
  return (
    <p role="status" className={tone}>
      <span aria-hidden="true">{sign}</span> {why ? `No updates, trying again: ${why}` : words}
    </p>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useTheme();
  return (
    <label>
      <span className="sr-only">Colours</span>
      <select className="field" value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
        {THEMES.map((it) => (
          <option key={it}>{it}</option>
        ))}
      </select>
    </label>
  );
}

function Who() {
  const { data } = useQuery(status);
  return (
    <span className="flex items-center gap-2 text-muted">
      {data?.actor.name}
      {session.token() && (
        <button type="button" className="button" onClick={session.signOut}>
          Sign out
        </button>
      )}
    </span>
  );
}

/** Lists that are short because of rights look like lists that are complete. */
function Partial() {
  return (
    <p className="border-b border-line bg-raised px-4 py-1 text-sm text-muted">
      You see the namespaces that you may look at; there may be more.
    </p>
  );
}

/** What is wrong with Weir itself, or with definitions. */
function Problems() {
  const { data } = useQuery(status);
  const problems = data?.problems ?? [];
  if (problems.length === 0) return data?.partial ? <Partial /> : null;
  return (
    <details className="border-b border-line bg-bad/10 px-4 py-2">
      <summary className="cursor-pointer font-medium text-bad">
        {problems.length === 1 ? "Something is wrong" : `${problems.length} things are wrong`}
      </summary>
      <ul className="mt-2 list-disc space-y-1 pl-6">
        {problems.map((problem) => (
          <li key={problem} className="wrap-anywhere">
            {problem}
          </li>
        ))}
      </ul>
    </details>
  );
}
