/** What whoever looks may do. Nothing is offered that would be refused. */
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { read, type Schemas } from "../api/client";
import { pipelines } from "../api/queries";
import { distinct } from "../pipelines/summary";

export type Verb = "view" | "operate" | "approve" | "define";

const rights = (namespace: string | undefined) =>
  queryOptions({
    queryKey: ["rights", namespace ?? ""],
    queryFn: ({ signal }) => read<Schemas["Rights"]>("/rights", { namespace }, signal),
  });

/** Whether they may do this in a namespace; in all, if none is given. Not before that is known. */
export function useMay(verb: Verb, namespace?: string): boolean {
  const { data } = useQuery(rights(namespace));
  return data?.may.includes(verb) ?? false;
}

/** The namespaces that they may have rights in: those with pipelines, and those that the server knows of. */
export function useNamespaces(): string[] {
  const { data: all } = useQuery(pipelines);
  const { data: own } = useQuery(rights(undefined));
  return distinct([...(all ?? []).map((it) => it.namespace), ...(own?.namespaces ?? [])]);
}

/** Whether they may do this in all namespaces, or in any that is known. */
export function useMaySomewhere(verb: Verb): boolean {
  const everywhere = useMay(verb);
  const known = useNamespaces();
  const namespaces = everywhere ? [] : known;
  const found = useQueries({ queries: namespaces.map(rights) });
  return everywhere || found.some((it) => it.data?.may.includes(verb));
}
