/** Where people review a promotion: on a forge, or in Weir. */
import { Link } from "@tanstack/react-router";
import type { Promotion } from "../api/queries";

export function ProposalLink({ promotion }: { promotion: Promotion }) {
  const { proposal } = promotion;
  if (!proposal) return null;
  // What is over does not look any more; a proposal that was open then went on with a newer one.
  const isOver = !promotion.live && proposal.state === "open";
  const state = isOver ? "taken over" : proposal.state;
  if (proposal.url && !isOurs(proposal.url)) {
    return (
      <a href={proposal.url} className="link" target="_blank" rel="noreferrer">
        pull request {proposal.id} ({state})
      </a>
    );
  }
  return (
    <Link
      to="/proposals/$namespace/$name"
      params={{ namespace: promotion.namespace, name: proposal.id }}
      className="link"
    >
      proposal ({state})
    </Link>
  );
}

/** A proposal that Weir keeps has its page here. */
function isOurs(url: string): boolean {
  return url.startsWith("/") || url.startsWith(`${window.location.origin}/proposals/`);
}
