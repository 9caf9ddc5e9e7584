/** What is filled in, and the definition that it makes. */

export interface Target {
  id: number;
  /** `NAME` or `NAMESPACE/NAME` of a GitopsCluster. Empty: the cluster that the pipeline lives on. */
  cluster: string;
  namespace: string;
}

export interface Environment {
  id: number;
  name: string;
  targets: Target[];
}

export const KINDS = { HelmRelease: "helm.toolkit.fluxcd.io/v2", Kustomization: "kustomize.toolkit.fluxcd.io/v1" };

/** How a release gets from one environment to the next, as people choose it. */
export const WAYS = {
  forge: "A pull request, on a forge",
  git: "A proposal in Weir, on a plain Git server",
  push: "A push to the base branch",
  notification: "A notification that somebody else acts on",
  none: "Not by Weir: it only shows what runs",
} as const;

export type Way = keyof typeof WAYS;

/** Those that Weir can open pull requests on. */
export const FORGES = { gitea: "Gitea or Forgejo" } as const;

export interface Form {
  namespace: string;
  name: string;
  kind: keyof typeof KINDS;
  app: string;
  environments: Environment[];
  way: Way;
  forge: keyof typeof FORGES;
  url: string;
  branch: string;
  secret: string;
  /** The Secret that signs what is reported about its environments. */
  events: string;
}

export const EMPTY: Form = {
  namespace: "default",
  name: "",
  kind: "HelmRelease",
  app: "",
  environments: [
    { id: 1, name: "dev", targets: [{ id: 2, cluster: "", namespace: "" }] },
    { id: 3, name: "prod", targets: [{ id: 4, cluster: "", namespace: "" }] },
  ],
  way: "forge",
  forge: "gitea",
  url: "",
  branch: "main",
  secret: "",
  events: "",
};

/** A number that nothing in the form has yet. */
export function next(form: Form): number {
  const used = form.environments.flatMap((it) => [it.id, ...it.targets.map((target) => target.id)]);
  return Math.max(0, ...used) + 1;
}

/** A list with one of its items in the place before it, or after it. */
export function moved<T>(list: readonly T[], from: number, by: -1 | 1): T[] {
  const to = from + by;
  const [one, other] = [list[from], list[to]];
  if (one === undefined || other === undefined) return [...list];
  return list.map((it, place) => (place === from ? other : place === to ? one : it));
}

/** Whether a repository is named. */
export const hasRepository = ({ way }: Form) => way === "forge" || way === "git" || way === "push";

const WORDS = /^(true|false|null|yes|no|on|off|y|n|~)$/i;
const PLAIN = /^[A-Za-z][A-Za-z0-9._/-]*$/;
const ADDRESS = /^[a-z]+:\/\/[A-Za-z0-9._~/:@%+-]*[A-Za-z0-9/]$/;

/** A text as YAML reads it back. */
export function scalar(text: string): string {
  const plain = (PLAIN.test(text) && !WORDS.test(text)) || ADDRESS.test(text);
  return plain ? text : JSON.stringify(text);
}

/** The definition, in YAML. What is not filled in yet is there, and empty, so that it is found. */
export function yaml(form: Form): string {
  const lines = [
    "apiVersion: pipelines.weave.works/v1alpha1",
    "kind: Pipeline",
    "metadata:",
    `  name: ${scalar(form.name)}`,
    `  namespace: ${scalar(form.namespace)}`,
    "spec:",
    "  appRef:",
    `    apiVersion: ${KINDS[form.kind]}`,
    `    kind: ${form.kind}`,
    `    name: ${scalar(form.app)}`,
    ...promotion(form),
    form.environments.length > 0 ? "  environments:" : "  environments: []",
    ...form.environments.flatMap((it) => environment(it, form.namespace)),
  ];
  return `${lines.join("\n")}\n`;
}

function promotion(form: Form): string[] {
  const head = ["  promotion:", "    strategy:"];
  if (form.way === "none") return [];
  const signed = form.events ? ["      secretRef:", `        name: ${scalar(form.events)}`] : [];
  if (form.way === "notification") return [...head, "      notification: {}", ...signed];
  const isPush = form.way === "push";
  return [
    ...head,
    isPush ? "      push:" : "      pull-request:",
    ...(isPush ? [] : [`        type: ${form.way === "git" ? "git" : form.forge}`]),
    `        url: ${scalar(form.url)}`,
    `        baseBranch: ${scalar(form.branch)}`,
    ...(form.secret ? ["        secretRef:", `          name: ${scalar(form.secret)}`] : []),
    ...signed,
  ];
}

function environment({ name, targets }: Environment, home: string): string[] {
  return [
    `    - name: ${scalar(name)}`,
    targets.length > 0 ? "      targets:" : "      targets: []",
    ...targets.flatMap((it) => target(it, home)),
  ];
}

function target({ cluster, namespace }: Target, home: string): string[] {
  const own = [`        - namespace: ${scalar(namespace)}`];
  if (!cluster) return own;
  const [first = "", second] = cluster.split(/\/(.*)/s);
  const [where, name] = second === undefined ? [home, first] : [first, second];
  return [
    ...own,
    "          clusterRef:",
    "            kind: GitopsCluster",
    `            name: ${scalar(name)}`,
    ...(where === home ? [] : [`            namespace: ${scalar(where)}`]),
  ];
}

const KEY = "weir.define";

/** What was typed in this tab and not proposed yet. */
export const kept = {
  load(): Form {
    try {
      const known: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
      // A form of another version of this page is not understood.
      const fits = typeof known === "object" && known !== null && sameFields(known, EMPTY);
      return fits ? (known as Form) : EMPTY;
    } catch {
      return EMPTY;
    }
  },
  save: (form: Form) => sessionStorage.setItem(KEY, JSON.stringify(form)),
  clear: () => sessionStorage.removeItem(KEY),
};

const sameFields = (one: object, other: object) => Object.keys(one).sort().join() === Object.keys(other).sort().join();
