/**
 * Keeps what is shown true. An event says what changed, never how it is now: what is kept of it is asked for again, a
 * few times a second at most.
 */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { readAll, type Schemas } from "../api/client";
import { type PipelineSummary, pipelines } from "../api/queries";
import { follow, type Heard } from "./stream";

type Changed = Schemas["Changed"];

export interface Connection {
  state: "connecting" | "live" | "lost";
  /** What the server says for it, if it answers. */
  why?: string | undefined;
}

const CONNECTING: Connection = { state: "connecting" };
const LIVE: Connection = { state: "live" };

const Live = createContext(CONNECTING);
export const useConnection = () => useContext(Live);

/** How long changes are gathered. */
const GATHER = 150;

/** So many pipelines are asked for one by one; beyond that, the whole list is. */
const FEW = 20;

export function LiveUpdates({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [connection, setConnection] = useState(CONNECTING);
  useEffect(() => {
    const gathered = new Gathered(client);
    const stop = follow({
      heard: (event) => gathered.take(event),
      connected: () => setConnection(LIVE),
      lost: (why) => setConnection({ state: "lost", why }),
    });
    return () => {
      stop();
      gathered.stop();
    };
  }, [client]);
  return <Live.Provider value={connection}>{children}</Live.Provider>;
}

class Gathered {
  private readonly client: QueryClient;
  private changes: Changed[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: QueryClient) {
    this.client = client;
  }

  take({ event, data }: Heard) {
    if (event === "reset") void this.client.invalidateQueries();
    if (event !== "change") return;
    this.changes.push(JSON.parse(data) as Changed);
    this.timer ??= setTimeout(() => this.pass(), GATHER);
  }

  stop() {
    clearTimeout(this.timer);
  }

  private pass() {
    const changes = this.changes;
    this.changes = [];
    this.timer = undefined;
    const concerned = (key: readonly unknown[]) => changes.some((change) => concerns(change, key));
    void this.client.invalidateQueries({ predicate: ({ queryKey }) => concerned(queryKey) });
    void refreshList(this.client, changes);
  }
}

/** Whether what is kept under a key may be another after a change. The list of pipelines is brought up to date in parts. */
export function concerns(change: Changed, key: readonly unknown[]): boolean {
  const [kind, namespace, name] = key;
  const ours = !change.pipeline || (change.pipeline.namespace === namespace && change.pipeline.name === name);
  switch (kind) {
    case "pipeline":
    case "preview":
    case "history":
    case "tree":
      return ours;
    case "promotion":
    case "proposal":
      return !change.pipeline || change.pipeline.namespace === namespace;
    case "manifest":
      return ours && change.kind === "definition";
    case "pipelines":
    case "rights":
    case "diff":
    case "lint":
    case "definitions":
    case "drafts":
    case "draft":
      return false;
    default:
      return true;
  }
}

async function refreshList(client: QueryClient, changes: Changed[]) {
  const keys = new Map(
    changes.map(({ pipeline }) => [pipeline ? `${pipeline.namespace}/${pipeline.name}` : "", pipeline]),
  );
  if (!client.getQueryData(pipelines.queryKey)) return;
  if (keys.has("") || keys.size > FEW) {
    await client.invalidateQueries(pipelines);
    return;
  }
  for (const pipeline of keys.values()) {
    if (!pipeline) continue;
    const { namespace, name } = pipeline;
    const found = await readAll<PipelineSummary>("/pipelines", { namespace, name }).catch(() => undefined);
    if (!found) continue;
    const now = found.find((it) => it.name === name);
    client.setQueryData(pipelines.queryKey, (known) => replaced(known ?? [], namespace, name, now));
  }
}

/** The list with a pipeline as it is now, in its place; `undefined`: it is gone. */
export function replaced(
  list: PipelineSummary[],
  namespace: string,
  name: string,
  now: PipelineSummary | undefined,
): PipelineSummary[] {
  const others = list.filter((it) => it.namespace !== namespace || it.name !== name);
  if (!now) return others;
  const before = (it: PipelineSummary) => it.namespace < namespace || (it.namespace === namespace && it.name < name);
  const place = others.filter(before).length;
  return [...others.slice(0, place), now, ...others.slice(place)];
}
