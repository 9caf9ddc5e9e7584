/** What came of something that was asked for, said once: to see, and to hear. */
import { useEffect, useSyncExternalStore } from "react";

/** How long it stays. */
const STAYS = 8000;

let words = "";
const listeners = new Set<() => void>();

function say(now: string) {
  words = now;
  for (const listener of listeners) listener();
}

/** Says that something was done. */
export function told(what: string) {
  say(what);
  goOn();
}

/** Whoever works by keyboard goes on in the page, if what they pressed is gone. */
export function goOn() {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  });
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

export function Told() {
  const now = useSyncExternalStore(subscribe, () => words);
  useEffect(() => {
    const timer = now ? setTimeout(() => say(""), STAYS) : undefined;
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <p role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-10 flex justify-center px-4">
      {now && <span className="card px-4 py-2 shadow-lg">{now}</span>}
    </p>
  );
}
