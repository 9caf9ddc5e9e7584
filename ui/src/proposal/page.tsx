/** A proposal that Weir keeps: what it changes, what people say, and the merge. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useRef } from "react";
import { CloseProposal, MergeProposal, ReviewProposal } from "../actions/proposal";
import { post } from "../api/client";
import { type Proposal, proposal } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge } from "../parts/badge";
import { Holds } from "../parts/holds";
import { Ago } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { useMayWith } from "../session/rights";
import { Differences } from "./differences";
import { ProposalState } from "./list";

const route = getRouteApi("/proposals/$namespace/$name");

export function ProposalPage() {
  const { namespace, name } = route.useParams();
  const found = useQuery(proposal(namespace, name));
  return (
    <Answer of={found} what={name}>
      {(it) => <Whole proposal={it} />}
    </Answer>
  );
}

function Whole({ proposal }: { proposal: Proposal }) {
  const { namespace, name, pipeline, state } = proposal;
  const open = state.name === "open";
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <PipelineLink pipeline={pipeline} /> → {proposal.environment},{" "}
        <Link to="/promotions/$namespace/$name" params={{ namespace, name: proposal.promotion }} className="link">
          its promotion
        </Link>
      </nav>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold">{proposal.title}</h1>
        <ProposalState proposal={proposal} />
        {open && (
          <div className="ml-auto flex flex-wrap gap-2">
            <MergeProposal proposal={proposal} />
            <ReviewProposal proposal={proposal} verdict="approved" />
            <ReviewProposal proposal={proposal} verdict="changesRequested" />
            <CloseProposal proposal={proposal} />
          </div>
        )}
      </div>
      <Ended proposal={proposal} />
      <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
        <section className="card min-w-0 p-4" aria-label="Change">
          <h2 className="mb-3 font-semibold">What it changes</h2>
          <Differences namespace={namespace} name={name} head={proposal.head} />
        </section>
        <div className="space-y-4">
          {open && proposal.holds.length > 0 && (
            <section className="card p-4" aria-label="Waits for">
              <h2 className="mb-3 font-semibold">It waits for</h2>
              <Holds holds={proposal.holds} />
            </section>
          )}
          <section className="card p-4 text-sm" aria-label="About it">
            <h2 className="mb-2 text-base font-semibold">About it</h2>
            <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
              <dt className="text-muted">Repository</dt>
              <dd className="wrap-anywhere">{proposal.repository}</dd>
              <dt className="text-muted">Branches</dt>
              <dd className="wrap-anywhere">
                {proposal.branch} into {proposal.base}
              </dd>
              <dt className="text-muted">Commit</dt>
              <dd className="font-mono wrap-anywhere">{proposal.head}</dd>
              <dt className="text-muted">Opened</dt>
              <dd>
                <Ago at={proposal.opened} />
              </dd>
            </dl>
          </section>
          <Conversation proposal={proposal} />
        </div>
      </div>
    </>
  );
}

function Ended({ proposal }: { proposal: Proposal }) {
  const { state, mergeAskedBy } = proposal;
  if (state.name === "open") {
    return mergeAskedBy ? (
      <p className="mb-4">{mergeAskedBy} wants it merged; Weir does that when nothing holds it.</p>
    ) : null;
  }
  return (
    <p className="mb-4">
      {state.name} by {state.by ?? "Weir"} {state.at && <Ago at={state.at} />}
      {state.note && `: ${state.note}`}
    </p>
  );
}

function Conversation({ proposal }: { proposal: Proposal }) {
  const said = [
    ...proposal.reviews.map((it) => ({ at: it.at, by: it.by, verdict: it.verdict, text: it.why ?? "" })),
    ...proposal.comments.map((it) => ({ at: it.at, by: it.by, verdict: undefined, text: it.body })),
  ].sort((one, other) => one.at.localeCompare(other.at));
  return (
    <section className="card p-4" aria-label="What people say">
      <h2 className="mb-3 font-semibold">What people say</h2>
      {said.length === 0 && <p className="text-sm text-muted">Nobody has said anything yet.</p>}
      <ol className="space-y-3">
        {said.map(({ at, by, verdict, text }) => (
          <li key={at + by + text} className="text-sm">
            <p>
              <b>{by}</b>{" "}
              {verdict && (
                <Badge tone={verdict === "approved" ? "good" : "bad"}>
                  {verdict === "approved" ? "approved" : "wants changes"}
                </Badge>
              )}{" "}
              <span className="text-muted">
                <Ago at={at} />
              </span>
            </p>
            {text && <p className="wrap-anywhere whitespace-pre-wrap">{text}</p>}
          </li>
        ))}
      </ol>
      <CommentForm proposal={proposal} />
    </section>
  );
}

function CommentForm({ proposal }: { proposal: Proposal }) {
  const form = useRef<HTMLFormElement>(null);
  const busy = useRef(false);
  const writing = useMutation({
    mutationFn: (body: string) => post(`/proposals/${proposal.namespace}/${proposal.name}/comments`, { body }),
    onSuccess: () => form.current?.reset(),
    onSettled: () => {
      busy.current = false;
    },
  });
  const may = [useMayWith("promote", proposal.pipeline), useMayWith("approve", proposal.pipeline)];
  if (!may.includes(true)) return null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = String(new FormData(event.currentTarget).get("body") ?? "").trim();
    if (body === "" || busy.current) return;
    busy.current = true;
    writing.mutate(body);
  };
  return (
    <form ref={form} onSubmit={submit} className="mt-4 flex flex-col gap-2">
      <label className="flex flex-col gap-1 text-sm">
        Write something
        <textarea name="body" rows={2} required className="field" />
      </label>
      {writing.error && (
        <p role="alert" className="text-sm text-bad">
          {writing.error.message}
        </p>
      )}
      <button type="submit" className="button self-end" disabled={writing.isPending}>
        Comment
      </button>
    </form>
  );
}
