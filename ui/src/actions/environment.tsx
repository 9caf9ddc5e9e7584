/** What can be done about the promotion into an environment. What would be refused is not offered. */
import { useId, useState } from "react";
import { post } from "../api/client";
import type { Considered, Environment, Pipeline } from "../api/queries";
import { usePaused } from "../parts/paused";
import { distinct } from "../pipelines/summary";
import { useMayWith } from "../session/rights";
import { Action } from "./dialog";
import { Preview } from "./preview";

interface Place {
  pipeline: Pipeline;
  environment: Environment;
}

function path({ pipeline, environment }: Place, verb: string): string {
  return `/pipelines/${pipeline.namespace}/${pipeline.name}/environments/${environment.name}/${verb}`;
}

function considered({ pipeline, environment }: Place, deed: Considered["deed"], version: string): Considered {
  return { namespace: pipeline.namespace, name: pipeline.name, environment: environment.name, deed, version };
}

export function Approve(place: Place) {
  const may = useMayWith("approve", place.pipeline);
  const { approval, name } = place.environment;
  if (!may || !approval) return null;
  const release = approval.release.name;
  if (approval.given) return <p className="text-sm text-muted">You approved {release}.</p>;
  if (!approval.counts) return null;
  return (
    <Action
      label="Approve"
      primary
      names={`${release} for ${name}`}
      title={`Approve ${release} for ${name}`}
      act={({ why }) => post(path(place, "approve"), { version: release, why: why || null })}
      done={() => `You approved ${release} for ${name}`}
    >
      <p>
        You agree that <b className="font-mono">{release}</b> goes to {name}.
      </p>
      <Preview {...considered(place, "approve", release)} />
    </Action>
  );
}

export function Reject(place: Place) {
  const may = useMayWith("approve", place.pipeline);
  const { promotion } = place.environment;
  if (!may || !promotion?.live) return null;
  const release = promotion.release.name;
  return (
    <Action
      label="Reject"
      names={`${release} for ${place.environment.name}`}
      title={`Reject ${release} for ${place.environment.name}`}
      about={release}
      needsReason
      act={({ why }) => post(path(place, "reject"), { version: release, why })}
    >
      <p>
        <b className="font-mono">{release}</b> does not go to {place.environment.name}, now or later, unless somebody
        asks for it. A newer release may come.
      </p>
      <Preview {...considered(place, "reject", release)} />
    </Action>
  );
}

export function Promote(place: Place) {
  const { pipeline, environment } = place;
  const forward = useMayWith("promote", pipeline);
  const back = useMayWith("rollback", pipeline);
  if (!forward && !back) return null;
  return (
    <Action
      label="Promote …"
      names={`to ${environment.name}`}
      title={`Ask for a version in ${environment.name}`}
      act={({ why, fields }) => post(path(place, "promote"), { version: typed(fields), why: why || null })}
      done={({ fields }) => `You asked for ${typed(fields)} in ${environment.name}`}
    >
      <Version {...place} />
    </Action>
  );
}

const typed = (fields: FormData) => String(fields.get("version") ?? "").trim();

/** Which version is asked for, and what will come of that. */
function Version(place: Place) {
  const { pipeline, environment } = place;
  const list = useId();
  const [version, setVersion] = useState(environment.plan.candidate?.name ?? "");
  const paused = usePaused(version.trim());
  const known = distinct(
    pipeline.environments
      .flatMap((it) => [it.runs?.name, it.promotion?.release.name, it.plan.candidate?.name])
      .filter((it): it is string => it !== undefined),
  ).reverse();
  return (
    <>
      <p>
        It may be older than what runs, and has to have run somewhere in this pipeline. Gates and freezes count for it,
        too.
      </p>
      <label className="flex flex-col gap-1">
        Version
        <input
          name="version"
          required
          list={list}
          value={version}
          onChange={(event) => setVersion(event.target.value)}
          className="field font-mono"
        />
      </label>
      <datalist id={list}>
        {known.map((version) => (
          <option key={version} value={version} />
        ))}
      </datalist>
      {paused !== "" && <Preview {...considered(place, "promote", paused)} />}
    </>
  );
}
