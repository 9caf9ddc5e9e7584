/** Promotions, one to a row. */
import { Link } from "@tanstack/react-router";
import type { Promotion } from "../api/queries";
import { Phase } from "../parts/badge";
import { Cell, Row, Table } from "../parts/table";
import { Ago, lasted } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { ProposalLink } from "./proposal-link";

export function PromotionTable({ caption, promotions }: { caption: string; promotions: Promotion[] }) {
  return (
    <Table caption={caption} heads={["Release", "Pipeline", "Into", "Phase", "Begun", "Took", "How it came", "Review"]}>
      {promotions.map((promotion) => {
        const { namespace, name, pipeline, history, requestedBy } = promotion;
        const [first, last] = [history[0], history.at(-1)];
        return (
          <Row key={`${namespace}/${name}`}>
            <Cell>
              <Link to="/promotions/$namespace/$name" params={{ namespace, name }} className="link font-mono">
                {promotion.release.name}
              </Link>
            </Cell>
            <Cell>
              <PipelineLink pipeline={pipeline} />
            </Cell>
            <Cell>{promotion.environment}</Cell>
            <Cell>
              <Phase phase={promotion.phase} />
            </Cell>
            <Cell>{first && <Ago at={first.at} />}</Cell>
            <Cell>{first && last && !promotion.live ? lasted(first.at, last.at) : "–"}</Cell>
            <Cell>{requestedBy ? `asked for by ${requestedBy.name}` : `from ${promotion.from}`}</Cell>
            <Cell>
              <ProposalLink promotion={promotion} />
            </Cell>
          </Row>
        );
      })}
    </Table>
  );
}
