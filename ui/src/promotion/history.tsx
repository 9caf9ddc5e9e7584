/** What came into an environment, when, and how. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { promotions } from "../api/queries";
import { Answer } from "../parts/ask";
import { Empty } from "../parts/state";
import { PipelineLink } from "../pipeline/link";
import { PromotionTable } from "./table";

const route = getRouteApi("/pipelines/$namespace/$name/history/$environment");

export function HistoryPage() {
  const { namespace, name, environment } = route.useParams();
  const found = useQuery(promotions({ namespace, pipeline: name, environment }));
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <PipelineLink pipeline={{ namespace, name }} />
      </nav>
      <h1 className="mb-3 text-xl font-semibold">History of {environment}</h1>
      <Answer of={found} what="its history" level="part">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing was promoted into it">What Flux deploys there by itself is no promotion.</Empty>
          ) : (
            <PromotionTable caption={`Promotions into ${environment}, newest first`} promotions={items} />
          )
        }
      </Answer>
    </>
  );
}
