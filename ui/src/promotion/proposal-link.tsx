/** Where people review a promotion: on a forge, or in Weir. */
import { Link } from "@tanstack/react-router";
import type { Promotion } from "../api/queries";

export function ProposalLink({ promotion }: { promotion: Promotion }) {
  const { proposal } = promotion;
  if (!proposal) return null;
  if (proposal.url && !isOurs(proposal.url)) {
    return (
      <a href={proposal.url} className="link" target="_blank" rel="noreferrer">
        pull request {proposal.id} ({proposal.state})
      </a>
    );
  }
  return (
    <Link
      to="/proposals/$namespace/$name"
      params={{ namespace: promotion.namespace, name: proposal.id }}
      className="link"
    >
      proposal ({proposal.state})
    </Link>
  );
}

/** A proposal that Weir keeps has its page here. */
function isOurs(url: string): boolean {
  return url.startsWith("/") || url.startsWith(`${window.location.origin}/proposals/`);
}
