/** What is shown of an answer: it, or that it is on its way, or why there is none. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failed, type Level, Loading } from "./state";

export function Answer<T>({
  of,
  what,
  level = "page",
  children,
}: {
  of: UseQueryResult<T>;
  what: string;
  /** Whether it is all that the page shows. */
  level?: Level;
  children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <Failed error={of.error} level={level} again={() => void of.refetch()} />;
  return <Loading what={what} />;
}
