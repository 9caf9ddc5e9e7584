/** What whoever looks may do. Nothing is offered that would be refused. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { read, type Schemas } from "../api/client";

export type Verb = "view" | "operate" | "approve";

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
