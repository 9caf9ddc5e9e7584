/** What can be asked for, and under which key the answer is kept. `live/` knows from the keys what to ask for again. */
import { queryOptions } from "@tanstack/react-query";
import { type Query, read, readAll, type Schemas, send } from "./client";

export type Pipeline = Schemas["PipelineView"];
export type PipelineSummary = Schemas["PipelineSummary"];
export type EnvironmentSummary = Schemas["EnvironmentSummary"];
export type Environment = Schemas["EnvironmentView"];
export type Target = Schemas["TargetView"];
export type Workload = Schemas["WorkloadView"];
export type TreeObject = Schemas["TreeView"];
export type Stay = Schemas["StayView"];
export type Promotion = Schemas["PromotionView"];
export type PromotionStory = Schemas["PromotionStory"];
export type Proposal = Schemas["ProposalView"];
export type ProposalSummary = Schemas["ProposalSummary"];
export type Hold = Schemas["Hold"];
export type Reason = Schemas["Because"];
export type Running = Schemas["Running"];
export type Freeze = Schemas["FreezeView"];
export type Definitions = Schemas["DefinitionsView"];
export type Draft = Schemas["DraftView"];
export type DraftSummary = Schemas["DraftSummary"];

export const status = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => read<Schemas["Status"]>("/status", {}, signal),
});

export const pipelines = queryOptions({
  queryKey: ["pipelines"],
  queryFn: ({ signal }) => readAll<PipelineSummary>("/pipelines", {}, signal),
});

export const pipeline = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ["pipeline", namespace, name],
    queryFn: ({ signal }) => read<Pipeline>(`/pipelines/${namespace}/${name}`, {}, signal),
  });

export const manifest = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ["manifest", namespace, name],
    queryFn: async ({ signal }) => (await send(`/pipelines/${namespace}/${name}/manifest`, { signal })).text(),
  });

/** A workload in a target. */
export interface Place {
  namespace: string;
  name: string;
  environment: string;
  target: string;
  workload: string;
}

export const tree = ({ namespace, name, environment, target, workload }: Place) =>
  queryOptions({
    queryKey: ["tree", namespace, name, environment, target, workload],
    queryFn: ({ signal }) =>
      read<TreeObject>(
        `/pipelines/${namespace}/${name}/environments/${environment}/tree`,
        { target, workload },
        signal,
      ),
    // What the cluster runs in the end does not change the pipeline, so nobody tells of it.
    refetchInterval: 15_000,
  });

/** What somebody thinks about doing. */
export interface Considered {
  namespace: string;
  name: string;
  environment: string;
  deed: "promote" | "approve" | "reject";
  version: string;
}

export const preview = ({ namespace, name, environment, deed, version }: Considered) =>
  queryOptions({
    queryKey: ["preview", namespace, name, environment, deed, version],
    queryFn: ({ signal }) =>
      read<Schemas["PreviewView"]>(
        `/pipelines/${namespace}/${name}/environments/${environment}/preview`,
        { deed, version },
        signal,
      ),
    enabled: version !== "",
    retry: false,
    gcTime: 10_000,
  });

export const history = (namespace: string, name: string, environment: string) =>
  queryOptions({
    queryKey: ["history", namespace, name, environment],
    queryFn: ({ signal }) =>
      read<Schemas["HistoryView"]>(`/pipelines/${namespace}/${name}/environments/${environment}/history`, {}, signal),
  });

export const promotions = (which: Query) =>
  queryOptions({
    queryKey: ["promotions", which],
    queryFn: ({ signal }) => read<{ items: Promotion[] }>("/promotions", { limit: 100, ...which }, signal),
  });

export const promotion = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ["promotion", namespace, name],
    queryFn: ({ signal }) => read<PromotionStory>(`/promotions/${namespace}/${name}`, {}, signal),
  });

export const proposals = queryOptions({
  queryKey: ["proposals"],
  queryFn: ({ signal }) => readAll<ProposalSummary>("/proposals", { state: "all" }, signal),
});

export const proposal = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ["proposal", namespace, name],
    queryFn: ({ signal }) => read<Proposal>(`/proposals/${namespace}/${name}`, {}, signal),
  });

export const diff = (namespace: string, name: string, head: string) =>
  queryOptions({
    queryKey: ["diff", namespace, name, head],
    queryFn: ({ signal }) => read<Schemas["Diff"]>(`/proposals/${namespace}/${name}/diff`, {}, signal),
  });

export const definitions = queryOptions({
  queryKey: ["definitions"],
  queryFn: ({ signal }) => read<Definitions | null>("/definitions", {}, signal),
});

/** How often drafts are asked for while they are shown: they are in Git, and nobody tells when they change. */
const DRAFTS = 5_000;

export const drafts = queryOptions({
  queryKey: ["drafts"],
  queryFn: async ({ signal }) => (await read<Schemas["DraftList"]>("/drafts", {}, signal)).items,
  refetchInterval: DRAFTS,
  staleTime: 0,
});

export const draft = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ["draft", namespace, name],
    queryFn: ({ signal }) => read<Draft>(`/drafts/${namespace}/${name}`, {}, signal),
    refetchInterval: DRAFTS,
    staleTime: 0,
  });

export const versions = queryOptions({
  queryKey: ["versions"],
  queryFn: ({ signal }) => readAll<Running>("/versions", {}, signal),
});

export const freezes = queryOptions({
  queryKey: ["freezes"],
  queryFn: ({ signal }) => readAll<Freeze>("/freezes", {}, signal),
});
