/** Times, as people say them. The exact one is a hover away, and in the markup. */
import { useEffect, useState } from "react";

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });

export function ago(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return "now";
}

export function lasted(from: string, to: string): string {
  let seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const parts: string[] = [];
  for (const [sign, size] of [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${sign}`);
  }
  return parts.join(" ") || "0 s";
}

/** The time, looked at again every few seconds. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {ago(at, now)}
    </time>
  );
}

/** How long something has lasted. */
export function For({ since }: { since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={`since ${new Date(since).toLocaleString()}`} className="whitespace-nowrap">
      for {lasted(since, new Date(now).toISOString())}
    </time>
  );
}

const EXACT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/;

/** A sentence of the server, with its times as they are where it is read. */
export function Sentence({ text }: { text: string }) {
  return text.split(EXACT).map((part, place) =>
    place % 2 === 0 ? (
      part
    ) : (
      <time key={place} dateTime={part} title={part}>
        {new Date(part).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
      </time>
    ),
  );
}
