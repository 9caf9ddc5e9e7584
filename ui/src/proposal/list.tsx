/** Proposals that Weir keeps itself, for Git servers without pull requests. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { drafts, type ProposalSummary, proposals } from "../api/queries";
import { Drafts } from "../define/drafts";
import { Answer } from "../parts/ask";
import { Badge, type Tone } from "../parts/badge";
import { Empty, Failed } from "../parts/state";
import { Cell, Row, Table } from "../parts/table";
import { Ago } from "../parts/time";
import { PipelineLink } from "../pipeline/link";

const TONES: Record<string, Tone> = { open: "wait", merged: "good", closed: "plain" };

export function ProposalState({ proposal }: { proposal: ProposalSummary }) {
  return <Badge tone={TONES[proposal.state.name] ?? "plain"}>{proposal.state.name}</Badge>;
}

export function ProposalsPage() {
  const found = useQuery(proposals);
  const defined = useQuery(drafts);
  const waiting = defined.data ?? [];
  return (
    <>
      <h1 className="mb-3 text-xl font-semibold">Proposals</h1>
      {waiting.length > 0 && <Drafts all={waiting} />}
      {defined.error && <Failed error={defined.error} level="part" again={() => void defined.refetch()} />}
      <Answer of={found} what="proposals" level="part">
        {(all) =>
          all.length === 0 ? (
            waiting.length === 0 && (
              <Empty title="There is no proposal">
                Weir keeps proposals itself where the Git server has no pull requests. Those on a forge are found there.
              </Empty>
            )
          ) : (
            <Proposals all={[...all].sort((one, other) => other.opened.localeCompare(one.opened))} />
          )
        }
      </Answer>
    </>
  );
}

function Proposals({ all }: { all: ProposalSummary[] }) {
  return (
    <Table caption="Proposals, newest first" heads={["Proposal", "State", "Pipeline", "Into", "Opened"]}>
      {all.map((proposal) => {
        const { namespace, name, pipeline } = proposal;
        return (
          <Row key={`${namespace}/${name}`}>
            <Cell>
              <Link to="/proposals/$namespace/$name" params={{ namespace, name }} className="link">
                {proposal.title}
              </Link>
            </Cell>
            <Cell>
              <ProposalState proposal={proposal} />
            </Cell>
            <Cell>
              <PipelineLink pipeline={pipeline} />
            </Cell>
            <Cell>{proposal.environment}</Cell>
            <Cell>
              <Ago at={proposal.opened} />
            </Cell>
          </Row>
        );
      })}
    </Table>
  );
}
