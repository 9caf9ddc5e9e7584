/** One promotion, from first seen to healthy. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type Promotion, type PromotionStory, promotion } from "../api/queries";
import { Answer } from "../parts/ask";
import { Phase } from "../parts/badge";
import { Holds } from "../parts/holds";
import { Ago, lasted } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { Differences } from "../proposal/differences";
import { ProposalLink } from "./proposal-link";

const route = getRouteApi("/promotions/$namespace/$name");

export function PromotionPage() {
  const { namespace, name } = route.useParams();
  const found = useQuery(promotion(namespace, name));
  return (
    <Answer of={found} what={name}>
      {(it) => <Whole promotion={it} />}
    </Answer>
  );
}

function Whole({ promotion }: { promotion: PromotionStory }) {
  const { pipeline, environment, release, proposal } = promotion;
  const kept = proposal && !proposal.url?.includes("://");
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <PipelineLink pipeline={pipeline} /> →{" "}
        <Link
          to="/pipelines/$namespace/$name/history/$environment"
          params={{ ...pipeline, environment }}
          className="link"
        >
          {environment}
        </Link>
      </nav>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold">
          <span className="font-mono">{release.name}</span> from {promotion.from} to {environment}
        </h1>
        <Phase phase={promotion.phase} />
        <ProposalLink promotion={promotion} />
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <section className="card p-4" aria-label="Timeline">
          <h2 className="mb-3 font-semibold">What happened</h2>
          <Timeline promotion={promotion} />
        </section>
        <section className="card space-y-3 p-4" aria-label="About it">
          <h2 className="font-semibold">About it</h2>
          <Facts promotion={promotion} />
          <Holds holds={promotion.holds} />
        </section>
      </div>
      {proposal && kept && (
        <section className="card mt-4 p-4" aria-label="Change">
          <h2 className="mb-3 font-semibold">What it changes</h2>
          <Differences namespace={promotion.namespace} name={proposal.id} head={proposal.head} />
        </section>
      )}
    </>
  );
}

function Timeline({ promotion }: { promotion: PromotionStory }) {
  const all = promotion.timeline;
  const first = promotion.history[0];
  const last = promotion.history.at(-1);
  return (
    <>
      <ol className="space-y-3 border-l-2 border-line pl-4">
        {all.map(({ at, what, phase, note }) => (
          <li key={at + what}>
            <p>
              {phase ? <Phase phase={phase} /> : <b className="font-semibold">{what}</b>}{" "}
              <span className="text-muted">
                <Ago at={at} />, {new Date(at).toLocaleString()}
              </span>
            </p>
            {note && <p className="text-sm wrap-anywhere text-muted">{note}</p>}
          </li>
        ))}
      </ol>
      {first && last && !promotion.live && <p className="mt-3 text-muted">It took {lasted(first.at, last.at)}.</p>}
    </>
  );
}

const REVIEWS: Record<string, string> = {
  notRequired: "not required",
  required: "asked for",
  approved: "approved",
  changesRequested: "changes are wanted",
};

function Facts({ promotion }: { promotion: Promotion }) {
  const { requestedBy, skips, overridden, proposal, problem, step } = promotion;
  const facts: [string, string][] = [["Asked for by", requestedBy?.name ?? "Weir, because it is the next release"]];
  if (step) facts.push(["Doing now", step.name]);
  if (skips.length > 0) facts.push(["Takes the place of", skips.map((it) => it.name).join(", ")]);
  if (proposal)
    facts.push(
      ["Checks", proposal.checks],
      ["Review", REVIEWS[proposal.review] ?? proposal.review],
      ["Commit", proposal.head],
    );
  if (proposal?.conflict) facts.push(["Conflict", "the base branch has changed; it is proposed anew"]);
  if (overridden.length > 0) facts.push(["Merged in spite of", overridden.map((it) => it.sentence).join("; ")]);
  if (problem) facts.push(["Last attempt", problem.message]);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
