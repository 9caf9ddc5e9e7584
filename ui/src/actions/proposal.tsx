/** What can be done with a proposal that Weir keeps. All of it is about the commit that one has looked at. */
import { post } from "../api/client";
import type { Proposal } from "../api/queries";
import { Holds } from "../parts/holds";
import { useMayWith } from "../session/rights";
import { Action } from "./dialog";

const path = ({ namespace, name }: Proposal, verb: string) => `/proposals/${namespace}/${name}/${verb}`;

export function MergeProposal({ proposal }: { proposal: Proposal }) {
  const may = useMayWith("promote", proposal.pipeline);
  if (!may) return null;
  const { head, release, environment, base } = proposal;
  const holds = proposal.holds.filter((hold) => hold.name !== "AwaitingReview");
  return (
    <Action
      label="Merge"
      primary
      title={`Merge ${release.name} into ${base}`}
      about={head}
      disabled={holds[0]?.sentence}
      act={({ why }) => post(path(proposal, "merge"), { head, why: why || null })}
    >
      <p>
        Commit <b className="font-mono">{head.slice(0, 12)}</b> is merged into {base}. Flux then deploys{" "}
        <b className="font-mono">{release.name}</b> to {environment}.
      </p>
      {proposal.relation && <p>Now {proposal.relation}.</p>}
      <Holds holds={holds} />
    </Action>
  );
}

const VERDICTS = {
  approved: ["Looks good", "You agree with this commit. It is not merged by that."],
  changesRequested: ["Want changes", "You do not agree with this commit. It is not merged before you do."],
} as const;

export function ReviewProposal({ proposal, verdict }: { proposal: Proposal; verdict: keyof typeof VERDICTS }) {
  const may = useMayWith("approve", proposal.pipeline);
  if (!may) return null;
  const [label, words] = VERDICTS[verdict];
  return (
    <Action
      label={label}
      title={`${label}: ${proposal.title}`}
      about={proposal.head}
      needsReason={verdict === "changesRequested"}
      act={({ why }) => post(path(proposal, "reviews"), { head: proposal.head, verdict, why: why || null })}
    >
      <p>{words}</p>
    </Action>
  );
}

export function CloseProposal({ proposal }: { proposal: Proposal }) {
  const may = useMayWith("promote", proposal.pipeline);
  if (!may) return null;
  return (
    <Action
      label="Close"
      title={`Close the proposal of ${proposal.release.name}`}
      about={proposal.head}
      needsReason
      act={({ why }) => post(path(proposal, "close"), { head: proposal.head, why })}
    >
      <p>
        <b className="font-mono">{proposal.release.name}</b> does not go to {proposal.environment}, unless somebody asks
        for it. A newer release gets a proposal of its own.
      </p>
    </Action>
  );
}
