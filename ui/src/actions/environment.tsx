/** What can be done about the promotion into an environment. What would be refused is not offered. */

import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { post } from "../api/client";
import { type Considered, type Environment, history, type Pipeline } from "../api/queries";
import { usePaused } from "../parts/paused";
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
  const { approval, promotion, name } = place.environment;
  if (!may || !approval) return null;
  const release = approval.release.name;
  if (approval.given) return <p className="text-sm text-muted">You approved {release}.</p>;
  if (!approval.counts) return null;
  return (
    <Action
      // What is on its way stands above; another one has to be named.
      label={release === promotion?.release.name ? "Approve" : `Approve ${release}`}
      primary
      names={release === promotion?.release.name ? `${release} for ${name}` : `for ${name}`}
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
  const { promotion, approval } = place.environment;
  if (!may || !promotion?.live) return null;
  const release = promotion.release.name;
  const another = approval && approval.release.name !== release;
  return (
    <Action
      label={another ? `Reject ${release}` : "Reject"}
      names={another ? `for ${place.environment.name}` : `${release} for ${place.environment.name}`}
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
  const { data } = useQuery(history(pipeline.namespace, pipeline.name, environment.name));
  const others = pipeline.environments.flatMap((it) => [it.plan.candidate, it.promotion?.release, it.runs]);
  const names = [...(data?.items ?? []).map((it) => it.release), ...others].flatMap((it) => it?.name ?? []);
  // What runs here already is not what one wants; what ran before is nearest.
  const known = [...new Set(names)].filter((it) => it !== environment.runs?.name);
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
