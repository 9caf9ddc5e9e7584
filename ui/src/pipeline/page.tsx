/** One pipeline: a line of environments, joined by what is on its way between them. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { SuspendOrResume } from "../actions/pipeline";
import { type Pipeline, pipeline } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge } from "../parts/badge";
import { Ago } from "../parts/time";
import { Entry } from "./entry";
import { EnvironmentColumn } from "./environment";
import { Frozen } from "./frozen";
import { Manifest } from "./manifest";
import { Triggers } from "./triggers";

const route = getRouteApi("/pipelines/$namespace/$name");

export function PipelinePage() {
  const { namespace, name } = route.useParams();
  const found = useQuery(pipeline(namespace, name));
  return (
    <Answer of={found} what={`${namespace}/${name}`}>
      {(it) => <Whole pipeline={it} />}
    </Answer>
  );
}

function Whole({ pipeline }: { pipeline: Pipeline }) {
  const problems = pipeline.problems ?? [];
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <Link to="/" search={{ namespace: pipeline.namespace }} className="link">
          {pipeline.namespace}
        </Link>
      </nav>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold wrap-anywhere">{pipeline.name}</h1>
        {pipeline.suspended && (
          <Badge tone="plain">{pipeline.suspendedByDefinition ? "suspended by its definition" : "suspended"}</Badge>
        )}
        {!pipeline.defined && <Badge tone="plain">no longer defined</Badge>}
        <p className="text-muted">
          {pipeline.workload ?? "everything that carries its label"}
          {pipeline.nextCheck && (
            <>
              ; time alone changes something <Ago at={pipeline.nextCheck} />
            </>
          )}
        </p>
        <div className="ml-auto">
          <SuspendOrResume pipeline={pipeline} />
        </div>
      </div>
      <Frozen pipeline={pipeline} />
      {problems.length > 0 && (
        <section role="alert" className="card mb-4 border-bad p-4">
          <h2 className="font-semibold text-bad">Its definition cannot be read; the one before is still in force</h2>
          <ul className="mt-1 list-disc pl-5">
            {problems.map((problem) => (
              <li key={problem} className="wrap-anywhere">
                {problem}
              </li>
            ))}
          </ul>
        </section>
      )}
      <ol className="flex flex-col items-stretch gap-3 lg:flex-row lg:overflow-x-auto lg:pb-4">
        {pipeline.environments.map((environment, place) => (
          <Fragment key={environment.name}>
            {place > 0 && <Entry pipeline={pipeline} environment={environment} />}
            <EnvironmentColumn pipeline={pipeline} environment={environment} />
          </Fragment>
        ))}
      </ol>
      <Triggers pipeline={pipeline} />
      <Manifest pipeline={pipeline} />
    </>
  );
}
