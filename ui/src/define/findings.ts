/** What `weir lint` finds in the definition. The server is asked when typing pauses; the last answer counts. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { post, type Schemas } from "../api/client";
import { usePaused } from "../parts/paused";

export type Finding = Schemas["Finding"];

const lint = (manifest: string) =>
  queryOptions({
    queryKey: ["lint", manifest],
    queryFn: () => post<Schemas["Findings"]>("/lint", { manifest }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });

export interface Checked {
  findings: Finding[];
  /** Whether this is what was found in the text as it is now. */
  current: boolean;
  error: Error | null;
}

export function useFindings(text: string): Checked {
  const asked = usePaused(text);
  const { data, error, isPlaceholderData } = useQuery(lint(asked));
  const current = asked === text && data !== undefined && !isPlaceholderData && !error;
  return { findings: data?.findings ?? [], current, error };
}

export const Found = createContext<Finding[]>([]);

/** What was found in a field of the definition, or within it. */
export function useFound(path: string): Finding[] {
  return useContext(Found).filter((it) => isWithin(it.path, path));
}

export function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** What is wrong, in a sentence. */
export function sentence({ found, message }: Finding): string {
  return found ? `found “${found}”, ${message}` : message;
}
