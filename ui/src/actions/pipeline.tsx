/** What can be done with a whole pipeline. */
import { post } from "../api/client";
import type { Pipeline } from "../api/queries";
import { useMayWith } from "../session/rights";
import { Action } from "./dialog";

export function SuspendOrResume({ pipeline }: { pipeline: Pipeline }) {
  const { namespace, name, suspended } = pipeline;
  const may = useMayWith("pause", pipeline);
  if (!may || !pipeline.defined || pipeline.suspendedByDefinition) return null;
  const path = `/pipelines/${namespace}/${name}/${suspended ? "resume" : "suspend"}`;
  return suspended ? (
    <Action label="Resume" title={`Resume ${name}`} act={({ why }) => post(path, { why: why || null })}>
      <p>Weir writes to Git for it again.</p>
      <UnderWay pipeline={pipeline} lead="This goes on, unless something else holds it:" />
    </Action>
  ) : (
    <Action label="Suspend" title={`Suspend ${name}`} act={({ why }) => post(path, { why: why || null })}>
      <p>
        Nothing is written to Git for it until somebody resumes it. What Flux deploys goes on, and is shown. Open pull
        requests stay open.
      </p>
      <UnderWay pipeline={pipeline} lead="This stops:" />
    </Action>
  );
}

/** What is on its way, or would be, and what holds it but for the suspension. */
function UnderWay({ pipeline, lead }: { pipeline: Pipeline; lead: string }) {
  const found = pipeline.environments.flatMap(({ name, promotion, plan }) => {
    const isRefused = plan.nextHolds.some((it) => it.name === "Refused");
    const release = promotion?.live ? promotion.release : isRefused ? undefined : plan.candidate;
    return release ? [{ name, release: release.name, holds: plan.holds.filter((it) => it.name !== "Suspended") }] : [];
  });
  if (found.length === 0) return <p>Nothing is on its way.</p>;
  return (
    <>
      <p>{lead}</p>
      <ul className="list-disc pl-5 text-sm">
        {found.map(({ name, release, holds }) => (
          <li key={name}>
            <b className="font-mono">{release}</b> to {name}
            {holds.map((hold) => `; ${hold.sentence}`)}
          </li>
        ))}
      </ul>
    </>
  );
}
