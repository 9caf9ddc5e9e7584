/** Many pipelines, and a large one. */

export const COUNT = 5000;

function pipeline(name: string, environments: number, targets: number): string {
  const places = Array.from({ length: environments }, (_, place) => {
    const each = Array.from(
      { length: targets },
      (_, number) => `{namespace: apps, clusterRef: {kind: GitopsCluster, name: c${place}-${number}}}`,
    );
    return `{name: e${place}, targets: [${each.join(", ")}]}`;
  });
  return `apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: ${name}, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: ${name}}
  environments: [${places.join(", ")}]`;
}

/** So many small ones, and `large`: twenty environments with fifty targets each. */
export function many(): string[] {
  const small = Array.from({ length: COUNT }, (_, number) => pipeline(`app-${String(number).padStart(4, "0")}`, 3, 1));
  return [...small, pipeline("large", 20, 50)];
}
