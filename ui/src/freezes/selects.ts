/** What a freeze stops. The same rule as the server's, for what is typed and not set yet. */

export interface Selector {
  namespace?: string | null | undefined;
  pipeline?: string | null | undefined;
  environment?: string | null | undefined;
}

interface Defined {
  namespace: string;
  name: string;
  environments: { name: string }[];
}

/** Whether it concerns a pipeline. What is left out selects everything; nothing is promoted into the first environment. */
export function selects({ namespace, pipeline, environment }: Selector, it: Defined): boolean {
  return (
    (!namespace || namespace === it.namespace) &&
    (!pipeline || pipeline === it.name) &&
    (!environment || it.environments.slice(1).some(({ name }) => name === environment))
  );
}
