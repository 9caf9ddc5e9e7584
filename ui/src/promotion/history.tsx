/** What ran in an environment and how it came; and everything that was promoted into it. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { history, promotions, type Stay } from "../api/queries";
import { Answer } from "../parts/ask";
import { Empty } from "../parts/state";
import { Cell, Row, Table } from "../parts/table";
import { Ago, For, lasted } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { came, PromotionLink, PromotionTable, took } from "./table";

const route = getRouteApi("/pipelines/$namespace/$name/history/$environment");

export function HistoryPage() {
  const { namespace, name, environment } = route.useParams();
  const ran = useQuery(history(namespace, name, environment));
  const found = useQuery(promotions({ namespace, pipeline: name, environment }));
  return (
    <>
      <nav aria-label="Where this is" className="text-sm text-muted">
        <PipelineLink pipeline={{ namespace, name }} />
      </nav>
      <h1 className="mb-3 text-xl font-semibold">History of {environment}</h1>
      <Answer of={ran} what="what ran" level="part">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing is known to have run here">What is healthy here is remembered from then on.</Empty>
          ) : (
            <Stays environment={environment} stays={items} />
          )
        }
      </Answer>
      <h2 className="mt-6 mb-3 text-lg font-semibold">Promotions</h2>
      <Answer of={found} what="its promotions" level="part">
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-muted">
              Nothing was promoted into {environment}. What Flux deploys there by itself is no promotion.
            </p>
          ) : (
            <PromotionTable caption={`Promotions into ${environment}, newest first`} promotions={items} />
          )
        }
      </Answer>
    </>
  );
}

function Stays({ environment, stays }: { environment: string; stays: Stay[] }) {
  return (
    <Table
      caption={`What ran in ${environment}, newest first`}
      heads={["Release", "First healthy", "Until the next", "How it came", "Promotion took"]}
    >
      {stays.map(({ release, since, until, promotion }) => (
        <Row key={release.name + since}>
          <Cell>
            {promotion ? <PromotionLink promotion={promotion} /> : <span className="font-mono">{release.name}</span>}
          </Cell>
          <Cell>
            <Ago at={since} />
          </Cell>
          <Cell>{until ? lasted(since, until) : <For since={since} />}</Cell>
          <Cell>{promotion ? came(promotion) : "not by a promotion"}</Cell>
          <Cell>{promotion ? took(promotion) : "–"}</Cell>
        </Row>
      ))}
    </Table>
  );
}
