/** Why something is not further: as a sentence, since when, and what would end it. */
import type { Hold, Reason } from "../api/queries";
import { Sign } from "./badge";
import { For, Sentence } from "./time";

export function Holds({ holds }: { holds: (Hold | Reason)[] }) {
  if (holds.length === 0) return null;
  return (
    <ul className="space-y-2">
      {holds.map((hold) => (
        <li key={hold.name + hold.sentence} className="border-l-2 border-wait pl-3 text-sm">
          <p>
            <Sign tone="wait" /> <Sentence text={hold.sentence} />
          </p>
          <p className="text-muted">
            {hold.since && <For since={hold.since} />}
            {hold.since && hold.remedy && "; "}
            {hold.remedy && <Sentence text={hold.remedy} />}
          </p>
        </li>
      ))}
    </ul>
  );
}
