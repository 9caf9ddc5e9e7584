/** What can be done about the promotion into an environment. What would be refused is not offered. */
import { useId } from "react";
import { post } from "../api/client";
import type { Environment, Pipeline } from "../api/queries";
import { Holds } from "../parts/holds";
import { distinct } from "../pipelines/summary";
import { useMay } from "../session/rights";
import { Action } from "./dialog";

interface Place {
  pipeline: Pipeline;
  environment: Environment;
}

function path({ pipeline, environment }: Place, verb: string): string {
  return `/pipelines/${pipeline.namespace}/${pipeline.name}/environments/${environment.name}/${verb}`;
}

/** The release that people are asked about: what is on its way, or is next. */
function asked(environment: Environment): string | undefined {
  const { promotion, plan } = environment;
  const waits = plan.holds.some((hold) => hold.name === "AwaitingApproval");
  if (!waits) return undefined;
  return plan.candidate?.name ?? (promotion?.live ? promotion.release.name : undefined);
}

export function Approve(place: Place) {
  const may = useMay("approve", place.pipeline.namespace);
  const release = asked(place.environment);
  if (!may || !release) return null;
  const others = place.environment.plan.holds.filter((hold) => hold.name !== "AwaitingApproval");
  return (
    <Action
      label="Approve"
      primary
      title={`Approve ${release} for ${place.environment.name}`}
      act={({ why }) => post(path(place, "approve"), { version: release, why: why || null })}
    >
      <p>
        You agree that <b className="font-mono">{release}</b> goes to {place.environment.name}.{" "}
        {next(place.environment)}
      </p>
      {others.length > 0 && (
        <>
          <p>This holds it still:</p>
          <Holds holds={others} />
        </>
      )}
    </Action>
  );
}

function next({ strategy }: Environment): string {
  if (strategy?.name === "push") return "Weir then pushes it to the base branch.";
  if (strategy?.name === "notification") return "Those who listen are then told.";
  return strategy?.merge === "auto" ? "Weir then proposes it in Git, and merges it." : "Weir then proposes it in Git.";
}

export function Reject(place: Place) {
  const may = useMay("approve", place.pipeline.namespace);
  const { promotion } = place.environment;
  if (!may || !promotion?.live) return null;
  const release = promotion.release.name;
  return (
    <Action
      label="Reject"
      title={`Reject ${release} for ${place.environment.name}`}
      needsReason
      act={({ why }) => post(path(place, "reject"), { why })}
    >
      <p>
        <b className="font-mono">{release}</b> does not go to {place.environment.name}, now or later, unless somebody
        asks for it. {promotion.proposal?.state === "open" && "Its proposal is closed. "}A newer release may come.
      </p>
    </Action>
  );
}

export function Promote(place: Place) {
  const may = useMay("operate", place.pipeline.namespace);
  const list = useId();
  const { pipeline, environment } = place;
  if (!may) return null;
  const known = distinct(
    pipeline.environments
      .flatMap((it) => [it.runs?.name, it.promotion?.release.name, it.plan.candidate?.name])
      .filter((it): it is string => it !== undefined),
  ).reverse();
  return (
    <Action
      label="Promote …"
      title={`Ask for a version in ${environment.name}`}
      act={({ why, fields }) =>
        post(path(place, "promote"), { version: String(fields.get("version") ?? "").trim(), why: why || null })
      }
    >
      <label className="flex flex-col gap-1">
        Version
        <input
          name="version"
          required
          list={list}
          defaultValue={environment.plan.candidate?.name ?? ""}
          className="field font-mono"
        />
      </label>
      <datalist id={list}>
        {known.map((version) => (
          <option key={version} value={version} />
        ))}
      </datalist>
      <p>
        {environment.name} runs <b className="font-mono">{environment.runs?.name ?? "nothing yet"}</b>; what you name
        takes its place, even if it is older. It has to have run somewhere in this pipeline. Gates and freezes count for
        it, too. {next(environment)}
        {environment.promotion?.live && (
          <>
            {" "}
            <b className="font-mono">{environment.promotion.release.name}</b>, which is on its way, gives way to it.
          </>
        )}
      </p>
      {environment.gates.length > 0 && (
        <ul className="list-disc pl-5 text-sm text-muted">
          {environment.gates.map((gate) => (
            <li key={gate.name}>
              {gate.name}: {gate.sentence}
            </li>
          ))}
        </ul>
      )}
    </Action>
  );
}
