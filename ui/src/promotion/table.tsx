/** Promotions, one to a row. */
import { Link } from "@tanstack/react-router";
import type { Promotion } from "../api/queries";
import { Phase } from "../parts/badge";
import { Cell, Row, Table } from "../parts/table";
import { Ago, lasted } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { ProposalLink } from "./proposal-link";

export function PromotionLink({ promotion: { namespace, name, release } }: { promotion: Promotion }) {
  return (
    <Link to="/promotions/$namespace/$name" params={{ namespace, name }} className="link font-mono">
      {release.name}
    </Link>
  );
}

/** How long a promotion took. */
export function took({ history, live, phase }: Promotion): string {
  const [first, last] = [history[0], history.at(-1)];
  return first && last && !live && phase !== "Delivered" ? lasted(first.at, last.at) : "–";
}

/** On whose wish a promotion began, or from where. */
export function came({ requestedBy, from }: Promotion): string {
  return requestedBy ? `asked for by ${requestedBy.name}` : `from ${from}`;
}

export function PromotionTable({ caption, promotions }: { caption: string; promotions: Promotion[] }) {
  return (
    <Table caption={caption} heads={["Release", "Pipeline", "Into", "Phase", "Begun", "Took", "How it came", "Review"]}>
      {promotions.map((promotion) => {
        const { namespace, name, pipeline, history } = promotion;
        const first = history[0];
        return (
          <Row key={`${namespace}/${name}`}>
            <Cell>
              <PromotionLink promotion={promotion} />
            </Cell>
            <Cell>
              <PipelineLink pipeline={pipeline} />
            </Cell>
            <Cell>{promotion.environment}</Cell>
            <Cell>
              <Phase phase={promotion.phase} />
            </Cell>
            <Cell>{first && <Ago at={first.at} />}</Cell>
            <Cell>{took(promotion)}</Cell>
            <Cell>{came(promotion)}</Cell>
            <Cell>
              <ProposalLink promotion={promotion} />
            </Cell>
          </Row>
        );
      })}
    </Table>
  );
}
