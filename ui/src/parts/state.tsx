/** What is shown while there is nothing to show, or nothing that may be shown. */
import type { ReactNode } from "react";
import { Refusal, Unreachable } from "../api/client";

/** Before a page is there, it has to say what it is all the same. */
export type Level = "page" | "part";

export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="p-8 motion-safe:animate-pulse text-center text-muted">
      Reading {what} …
    </p>
  );
}

export function Empty({ title, level = "part", children }: { title: string; level?: Level; children?: ReactNode }) {
  const Heading = level === "page" ? "h1" : "h2";
  return (
    <section className="mx-auto max-w-prose p-8 text-center">
      <Heading className="text-lg font-semibold">{title}</Heading>
      <div className="mt-2 text-muted">{children}</div>
    </section>
  );
}

function title(error: Error): string {
  if (error instanceof Unreachable) return "The server does not answer";
  if (!(error instanceof Refusal)) return "Something is wrong with this page";
  if (error.status === 403) return "You may not see this";
  if (error.status === 404) return "It is not there";
  return error.title;
}

export function Failed({ error, again, level = "page" }: { error: Error; again?: () => void; level?: Level }) {
  const Heading = level === "page" ? "h1" : "h3";
  return (
    <section role="alert" className="mx-auto max-w-prose p-8 text-center">
      <Heading className="text-lg font-semibold">{title(error)}</Heading>
      <p className="mt-2 text-muted">{error.message}</p>
      {again && (
        <button type="button" className="button mt-4" onClick={again}>
          Try again
        </button>
      )}
    </section>
  );
}
