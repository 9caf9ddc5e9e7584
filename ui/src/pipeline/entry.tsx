/** What stands before an environment: the promotion whose turn it is, what it waits for, and what can be done about it. */
import { Link } from "@tanstack/react-router";
import { Approve, Promote, Reject } from "../actions/environment";
import type { Environment, Pipeline } from "../api/queries";
import { Phase } from "../parts/badge";
import { Holds } from "../parts/holds";
import { ProposalLink } from "../promotion/proposal-link";

export function Entry({ pipeline, environment }: { pipeline: Pipeline; environment: Environment }) {
  const { promotion, plan, strategy } = environment;
  const own = plan.holds.filter((hold) => !plan.nextHolds.some((next) => next.sentence === hold.sentence));
  return (
    <li aria-label={`On the way to ${environment.name}`} className="flex flex-col lg:w-56 lg:shrink-0">
      <p aria-hidden="true" className="hidden h-6 items-center text-line lg:flex">
        <span className="h-0.5 flex-1 bg-line" />▶
      </p>
      <div className="flex flex-col gap-3 border-l-2 border-line pl-4 lg:border-0 lg:px-1">
        <Coming environment={environment} />
        <Holds holds={own} />
        {plan.nextHolds.length > 0 && promotion && (
          <p className="text-sm">
            {plan.candidate ? <b className="font-mono wrap-anywhere">{plan.candidate.name}</b> : "What comes"}
            {promotion.live ? " is next, and waits:" : plan.candidate ? " waits:" : " next waits:"}
          </p>
        )}
        <Holds holds={plan.nextHolds} />
        {strategy && pipeline.defined ? (
          <div className="flex flex-wrap gap-2">
            <Approve pipeline={pipeline} environment={environment} />
            <Reject pipeline={pipeline} environment={environment} />
            <Promote pipeline={pipeline} environment={environment} />
          </div>
        ) : (
          <p className="text-sm text-muted">
            Nothing promotes into {environment.name}:{" "}
            {strategy ? "the pipeline is no longer defined" : "it is only shown"}.
          </p>
        )}
        <Gates environment={environment} />
      </div>
    </li>
  );
}

function Coming({ environment: { promotion, plan } }: { environment: Environment }) {
  const candidate = plan.candidate?.name;
  if (!promotion) {
    return <p className="text-sm text-muted">{candidate ? `${candidate} is next` : "Nothing has come this way yet"}</p>;
  }
  const { problem } = promotion;
  const isSaid = problem && plan.holds.some((hold) => hold.sentence.includes(problem.message));
  return (
    <div>
      <p className="flex flex-wrap items-center gap-2">
        <Link
          to="/promotions/$namespace/$name"
          params={{ namespace: promotion.namespace, name: promotion.name }}
          className="link font-mono wrap-anywhere"
        >
          {promotion.release.name}
        </Link>
        <Phase phase={promotion.phase} />
        <ProposalLink promotion={promotion} />
      </p>
      {candidate && candidate !== promotion.release.name && promotion.live && plan.nextHolds.length === 0 && (
        <p className="text-sm wrap-anywhere text-muted">{candidate} is next</p>
      )}
      {problem && !isSaid && <p className="mt-1 text-sm wrap-anywhere text-bad">{problem.message}</p>}
    </div>
  );
}

function Gates({ environment }: { environment: Environment }) {
  const { gates, strategy } = environment;
  if (!strategy) return null;
  return (
    <details className="text-sm text-muted">
      <summary className="cursor-pointer">
        {gates.length === 0 ? "No gates" : `Gates: ${gates.map((gate) => gate.name).join(", ")}`}
      </summary>
      <ul className="mt-1 list-disc space-y-1 pl-5">
        {gates.map((gate) => (
          <li key={gate.name + gate.sentence}>
            {gate.name}: {gate.sentence}
          </li>
        ))}
        <li>leaves the environment before when healthy on: {strategy.when}</li>
        <li>
          by {strategy.name}
          {strategy.name === "pull-request" && (strategy.merge === "auto" ? ", merged by Weir" : ", merged by people")}
        </li>
        {strategy.repository && (
          <li className="wrap-anywhere">
            {strategy.repository}, branch {strategy.base}
          </li>
        )}
      </ul>
    </details>
  );
}
