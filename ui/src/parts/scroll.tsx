/** What is wider than the page scrolls by itself, also by keyboard. */
import type { ReactNode } from "react";

export function Scroll({ label, className, children }: { label: string; className: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, what is out of sight cannot be reached by keyboard
    <section tabIndex={0} aria-label={label} className={`scrolls relative overflow-x-auto ${className}`}>
      {children}
    </section>
  );
}
