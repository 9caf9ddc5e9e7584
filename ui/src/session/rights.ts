/** What whoever looks may do. Nothing is offered that would be refused. */
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { read, type Schemas } from "../api/client";
import { pipelines } from "../api/queries";
import { distinct } from "../pipelines/summary";

export type Verb = "view" | "promote" | "rollback" | "pause" | "approve" | "define";

const rights = (namespace?: string, pipeline?: string) =>
  queryOptions({
    queryKey: ["rights", namespace ?? "", pipeline ?? ""],
    queryFn: ({ signal }) => read<Schemas["Rights"]>("/rights", { namespace, pipeline }, signal),
  });

/** Whether they may do this in a namespace, or with one pipeline of it; in all, if none is given. Not before that is known. */
export function useMay(verb: Verb, namespace?: string, pipeline?: string): boolean {
  const { data } = useQuery(rights(namespace, namespace && pipeline));
  return data?.may.includes(verb) ?? false;
}

export function useMayWith(verb: Verb, { namespace, name }: { namespace: string; name: string }): boolean {
  return useMay(verb, namespace, name);
}

/** The namespaces that they may have rights in: those with pipelines, and those that the server knows of. */
export function useNamespaces(): string[] {
  const { data } = useQuery(pipelines);
  return distinct([...(data ?? []).map((it) => it.namespace), ...useOwnNamespaces()]);
}

/** The namespaces that they were given rights in by name, as far as the server knows. */
export function useOwnNamespaces(): string[] {
  return useQuery(rights()).data?.namespaces ?? [];
}

/** Whether they may do this in all namespaces, or in any that is known. */
export function useMaySomewhere(verb: Verb): boolean {
  const everywhere = useMay(verb);
  const known = useNamespaces();
  const namespaces = everywhere ? [] : known;
  const found = useQueries({ queries: namespaces.map((it) => rights(it)) });
  return everywhere || found.some((it) => it.data?.may.includes(verb));
}
