/** A definition that somebody proposed: what it says, who asked, and on a plain Git server the decision. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Action } from "../actions/dialog";
import { post, type Schemas } from "../api/client";
import { type Draft, draft, drafts, pipelines } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge, type Tone } from "../parts/badge";
import { Empty } from "../parts/state";
import { Ago } from "../parts/time";
import { useMayWith } from "../session/rights";
import { Definition } from "./definition";

const route = getRouteApi("/drafts/$namespace/$name");

export function DraftPage() {
  const { namespace, name } = route.useParams();
  // What was decided here stays to be read, though the draft is gone.
  const [ended, setEnded] = useState<string>();
  return ended === undefined ? <Waiting end={setEnded} /> : <Ended key={`${namespace}/${name}`} words={ended} />;
}

function Waiting({ end }: { end: (words: string) => void }) {
  const { namespace, name } = route.useParams();
  const found = useQuery(draft(namespace, name));
  return (
    <Answer of={found} what={`the draft of ${name}`}>
      {(it) => <Whole draft={it} end={end} />}
    </Answer>
  );
}

const TONES: Record<string, Tone> = { open: "wait", merged: "good", closed: "plain" };

function Whole({ draft, end }: { draft: Draft; end: (words: string) => void }) {
  const { namespace, name, pullRequest } = draft;
  const state = pullRequest?.state ?? "open";
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <Link to="/proposals" className="link">
          Proposals
        </Link>
      </nav>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold wrap-anywhere">
          Define pipeline {namespace}/{name}
        </h1>
        <Badge tone={TONES[state] ?? "plain"}>{state}</Badge>
        <div className="ml-auto flex flex-wrap gap-2">
          {draft.forge === "git" && (
            <>
              <Merge draft={draft} end={end} />
              <Close draft={draft} end={end} />
            </>
          )}
        </div>
      </div>
      {pullRequest && (
        <p className="mb-4">
          It is reviewed on {draft.forge}:{" "}
          <a href={pullRequest.url} className="link wrap-anywhere">
            {pullRequest.url}
          </a>
        </p>
      )}
      {!draft.ours && (
        <p className="mb-4 text-wait">
          Somebody else committed to its branch. Weir leaves that alone: merge it with Git, or close it and propose
          anew.
        </p>
      )}
      <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
        <section className="card min-w-0 p-4" aria-label="Change">
          <h2 className="mb-3 font-semibold">What it adds</h2>
          <p className="mb-1 font-mono text-sm wrap-anywhere">{draft.file}</p>
          {draft.text ? <Definition text={draft.text} /> : <Unshown />}
        </section>
        <About draft={draft} />
      </div>
    </>
  );
}

function Unshown() {
  return (
    <p className="text-muted">
      The file is not there any more, or holds something else than this one Pipeline. Look at the branch in Git.
    </p>
  );
}

function About({ draft }: { draft: Draft }) {
  return (
    <section className="card self-start p-4 text-sm" aria-label="About it">
      <h2 className="mb-2 text-base font-semibold">About it</h2>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-muted">Asked for by</dt>
        <dd className="wrap-anywhere">{draft.by}</dd>
        <dt className="text-muted">When</dt>
        <dd>
          <Ago at={draft.at} />
        </dd>
        {draft.why && (
          <>
            <dt className="text-muted">Why</dt>
            <dd className="wrap-anywhere whitespace-pre-wrap">{draft.why}</dd>
          </>
        )}
        <dt className="text-muted">Repository</dt>
        <dd className="wrap-anywhere">{draft.repository}</dd>
        <dt className="text-muted">Branches</dt>
        <dd className="wrap-anywhere">
          {draft.branch} into {draft.base}
        </dd>
        <dt className="text-muted">Commit</dt>
        <dd className="font-mono wrap-anywhere">{draft.head}</dd>
      </dl>
    </section>
  );
}

interface Decision {
  draft: Draft;
  end: (words: string) => void;
}

/** Asks for it, at the commit that was looked at, and says what came of it. */
function useDecide({ draft, end }: Decision, verb: "merge" | "close") {
  const client = useQueryClient();
  return async ({ why }: { why: string }) => {
    const { namespace, name, head } = draft;
    const path = `/drafts/${namespace}/${name}/${verb}`;
    const merged = await post<Schemas["MergedDraft"] | undefined>(path, { head, why: why || null });
    end(merged ? `It is on ${draft.base}, with commit ${merged.commit.slice(0, 12)}.` : "It is closed.");
    void client.invalidateQueries(drafts);
  };
}

function Merge(decision: Decision) {
  const { draft } = decision;
  const may = useMayWith("promote", draft);
  const act = useDecide(decision, "merge");
  if (!may) return null;
  return (
    <Action
      label="Merge"
      primary
      title={`Merge the definition of ${draft.name} into ${draft.base}`}
      about={draft.head}
      disabled={draft.ours ? undefined : "The commit is not Weir's: merge it with Git"}
      act={act}
    >
      <p>
        Commit <b className="font-mono">{draft.head.slice(0, 12)}</b> is merged into {draft.base}, and its branch is
        removed. The pipeline is there once whatever follows {draft.repository} has taken it in.
      </p>
    </Action>
  );
}

function Close(decision: Decision) {
  const { draft } = decision;
  const may = useMayWith("promote", draft);
  const act = useDecide(decision, "close");
  if (!may) return null;
  return (
    <Action label="Close" title={`Close the draft of ${draft.name}`} about={draft.head} needsReason act={act}>
      <p>
        Branch <b className="font-mono wrap-anywhere">{draft.branch}</b> is removed, and with it what it says. It can be
        proposed anew.
      </p>
    </Action>
  );
}

function Ended({ words }: { words: string }) {
  const { namespace, name } = route.useParams();
  const { data } = useQuery(pipelines);
  const there = data?.some((it) => it.namespace === namespace && it.name === name);
  const merged = words.startsWith("It is on");
  return (
    <>
      <h1 className="sr-only">
        Define pipeline {namespace}/{name}
      </h1>
      <Empty title={words}>
        {there ? (
          <Link to="/pipelines/$namespace/$name" params={{ namespace, name }} className="link">
            Look at the pipeline
          </Link>
        ) : merged ? (
          <p role="status">The pipeline appears here when it has been taken in.</p>
        ) : (
          <Link to="/define" className="link">
            Define another
          </Link>
        )}
      </Empty>
    </>
  );
}
