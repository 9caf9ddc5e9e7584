/** The freezes in force that stop something of a pipeline, whether or not something waits. */
import { useQuery } from "@tanstack/react-query";
import { type Freeze, freezes, type Pipeline } from "../api/queries";
import { Ago } from "../parts/time";

function stops(freeze: Freeze, { namespace, name, environments }: Pipeline): boolean {
  return (
    freeze.active &&
    (!freeze.namespace || freeze.namespace === namespace) &&
    (!freeze.pipeline || freeze.pipeline === name) &&
    // Nothing is promoted into the first.
    (!freeze.environment || environments.slice(1).some((it) => it.name === freeze.environment))
  );
}

export function Frozen({ pipeline }: { pipeline: Pipeline }) {
  const { data } = useQuery(freezes);
  return data
    ?.filter((freeze) => stops(freeze, pipeline))
    .map((freeze) => (
      <p key={freeze.name} className="card mb-2 border-wait px-4 py-2 wrap-anywhere">
        <b>
          {freeze.environment ? `Promotions into ${freeze.environment} are` : "All promotions are"} frozen
          {freeze.release && ` that bring ${freeze.release}`}
        </b>{" "}
        by {freeze.by}: {freeze.reason} (
        {freeze.until ? (
          <>
            ends <Ago at={freeze.until} />
          </>
        ) : (
          "until somebody lifts it"
        )}
        ).
      </p>
    ));
}
