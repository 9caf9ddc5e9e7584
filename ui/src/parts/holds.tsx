/** Why something is not further: as a sentence, since when, and what would end it. */
import type { Hold } from "../api/queries";
import { Ago } from "./time";

export function Holds({ holds }: { holds: Hold[] }) {
  if (holds.length === 0) return null;
  return (
    <ul className="space-y-2">
      {holds.map((hold) => (
        <li key={hold.name + hold.sentence} className="border-l-2 border-wait pl-3 text-sm">
          <p>
            <span aria-hidden="true">⏸ </span>
            {hold.sentence}
          </p>
          <p className="text-muted">
            since <Ago at={hold.since} />
            {hold.remedy && <>; {hold.remedy}</>}
          </p>
        </li>
      ))}
    </ul>
  );
}
