/** A sign with a word: colour is never the only difference. */
import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "wait" | "move" | "plain";

const INKS: Record<Tone, string> = {
  good: "text-good",
  bad: "text-bad",
  wait: "text-wait",
  move: "text-move",
  plain: "text-muted",
};

const GROUNDS: Record<Tone, string> = {
  good: "bg-good/15",
  bad: "bg-bad/15",
  wait: "bg-wait/15",
  move: "bg-move/15",
  plain: "bg-raised",
};

/** Drawn, because fonts differ in what they have. */
const SHAPES: Record<Tone, string> = {
  good: "M3 8.5 6.5 12 13 4.5",
  bad: "M4 4l8 8M12 4l-8 8",
  wait: "M5.5 3.5v9M10.5 3.5v9",
  move: "M2.5 8h10M9 4.5 12.5 8 9 11.5",
  plain: "M7 8h2",
};

export function Sign({ tone }: { tone: Tone }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className={`inline-block size-[1em] shrink-0 align-[-0.125em] ${INKS[tone]}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="2.2"
      strokeLinecap="round"
    >
      <path d={SHAPES[tone]} />
    </svg>
  );
}

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${INKS[tone]} ${GROUNDS[tone]}`}
    >
      <Sign tone={tone} />
      {children}
    </span>
  );
}

const PHASES: Record<string, Tone> = {
  Pending: "wait",
  Proposed: "wait",
  Delivered: "move",
  Succeeded: "good",
  Failed: "bad",
  Rejected: "bad",
  RolledBack: "bad",
};

export function Phase({ phase }: { phase: string }) {
  return <Badge tone={PHASES[phase] ?? "plain"}>{phase}</Badge>;
}
