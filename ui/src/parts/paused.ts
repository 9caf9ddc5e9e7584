/** What is typed, once typing pauses. */
import { useEffect, useState } from "react";

/** How long typing has to pause. */
const PAUSE = 250;

export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
