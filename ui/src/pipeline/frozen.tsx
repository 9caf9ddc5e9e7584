/** The freezes in force that stop something of a pipeline, whether or not something waits. */
import { useQuery } from "@tanstack/react-query";
import { freezes, type Pipeline } from "../api/queries";
import { selects } from "../freezes/selects";
import { Ago } from "../parts/time";

export function Frozen({ pipeline }: { pipeline: Pipeline }) {
  const { data } = useQuery(freezes);
  return data
    ?.filter((freeze) => freeze.active && selects(freeze, pipeline))
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
