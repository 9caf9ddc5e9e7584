/** What can set a pipeline in motion, and when each last did. */
import type { Environment, Pipeline, Target } from "../api/queries";
import { Cell, Row, Table } from "../parts/table";
import { Ago } from "../parts/time";

interface Trigger {
  environment: string;
  what: string;
  how: string;
  last: string | undefined;
}

/** The latest of some times. They are written so that they sort. */
function latest(times: (string | null | undefined)[]): string | undefined {
  return times
    .filter((time) => typeof time === "string")
    .sort()
    .at(-1);
}

function ofTarget(environment: Environment, target: Target): Trigger {
  const where = `${target.cluster ?? "this cluster"}, namespace ${target.namespace}`;
  const watched = target.detection === "watch";
  return {
    environment: environment.name,
    what: where,
    how: watched ? "Weir watches its HelmReleases and Kustomizations" : "a signed event of Flux, or of CI",
    last: latest(target.workloads.map((it) => (watched ? it.since : it.lastReport))),
  };
}

export function triggers(pipeline: Pipeline): Trigger[] {
  return pipeline.environments.flatMap((environment) => {
    const each = environment.targets.map((target) => ofTarget(environment, target));
    const address = `POST /promotion/${pipeline.namespace}/${pipeline.name}/${environment.name}`;
    const reported = environment.reported.map((it) => it.lastReport);
    const any = { environment: environment.name, what: "any of its targets", how: address, last: latest(reported) };
    const { strategy, promotion } = environment;
    const review = strategy?.name === "pull-request" && {
      environment: environment.name,
      what: strategy.forge === "git" ? "a proposal in Weir" : `a pull request on ${strategy.forge}`,
      how: "merged, closed or reviewed",
      last: promotion?.proposal ? promotion.history.at(-1)?.at : undefined,
    };
    return review ? [...each, any, review] : [...each, any];
  });
}

export function Triggers({ pipeline }: { pipeline: Pipeline }) {
  return (
    <details className="mt-4">
      <summary className="mb-2 cursor-pointer font-medium">What can set it in motion</summary>
      <Table caption="What can set it in motion" heads={["Environment", "What", "How", "Last"]}>
        {triggers(pipeline).map(({ environment, what, how, last }) => (
          <Row key={environment + what + how}>
            <Cell>{environment}</Cell>
            <Cell>{what}</Cell>
            <Cell>{how}</Cell>
            <Cell>{last ? <Ago at={last} /> : "never, as far as is known"}</Cell>
          </Row>
        ))}
      </Table>
    </details>
  );
}
