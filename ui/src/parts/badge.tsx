/** A sign with a word: colour is never the only difference. */
import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "wait" | "move" | "plain";

const TONES: Record<Tone, string> = {
  good: "bg-good/15 text-good",
  bad: "bg-bad/15 text-bad",
  wait: "bg-wait/15 text-wait",
  move: "bg-move/15 text-move",
  plain: "bg-raised text-muted",
};

const SIGNS: Record<Tone, string> = { good: "✓", bad: "✕", wait: "⏸", move: "→", plain: "·" };

export function Sign({ tone }: { tone: Tone }) {
  return (
    <span aria-hidden="true" className={`inline-block w-4 text-center ${TONES[tone].split(" ")[1]}`}>
      {SIGNS[tone]}
    </span>
  );
}

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium ${TONES[tone]}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span>
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
