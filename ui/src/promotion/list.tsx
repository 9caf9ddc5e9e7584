/** What is on its way anywhere, and what came last. */
import { useQuery } from "@tanstack/react-query";
import { promotions } from "../api/queries";
import { Answer } from "../parts/ask";
import { Empty } from "../parts/state";
import { PromotionTable } from "./table";

export function PromotionsPage() {
  const found = useQuery(promotions({}));
  return (
    <>
      <h1 className="mb-3 text-xl font-semibold">Promotions</h1>
      <Answer of={found} what="promotions" level="part">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing has been promoted yet">
              When Flux has deployed a new version in the first environment of a pipeline, it appears here.
            </Empty>
          ) : (
            <PromotionTable caption="The last hundred promotions, newest first" promotions={items} />
          )
        }
      </Answer>
    </>
  );
}
