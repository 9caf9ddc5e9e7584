import type { Running } from "../api/queries";

/** Where something runs, as people say it. */
export function clusterOf({ cluster, target }: Running): string {
  return cluster ?? (target ? "this cluster" : "not told");
}

/** How something is, in a word. */
export function healthOf({ healthy, unreachable }: Running): string {
  if (unreachable) return "unreachable";
  return healthy ? "healthy" : "not healthy";
}
