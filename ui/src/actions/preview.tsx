/** What will come of it if it is confirmed: the server plays it through on what it knows now. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Refusal, type Schemas } from "../api/client";
import { type Considered, preview, type Reason } from "../api/queries";
import { Holds } from "../parts/holds";
import { useBlock } from "./dialog";

export function Preview(considered: Considered) {
  const heading = useId();
  const { data, error, isPending } = useQuery(preview(considered));
  const refused = error instanceof Refusal;
  useBlock(refused);
  return (
    <section aria-labelledby={heading} aria-live="polite" aria-busy={isPending} className="card space-y-2 p-3 text-sm">
      <h3 id={heading} className="font-semibold">
        What will happen
      </h3>
      {isPending && <p className="text-muted">Playing it through …</p>}
      {error && <p className="text-bad">{refused ? `It would be refused: ${error.message}` : error.message}</p>}
      {data && !error && (
        <>
          <ul className="list-disc space-y-1 pl-5">
            {data.notes.map((note) => (
              <li key={note}>{note}.</li>
            ))}
            {data.steps.map((step) => (
              <li key={step}>Weir {step}.</li>
            ))}
            <li>
              {data.steps.length > 0 && "After that: "}
              {data.then.headline}.
            </li>
          </ul>
          <Holds holds={after(data.then)} />
        </>
      )}
    </section>
  );
}

/** What holds it then. It does not hold yet, and what holds the one after it is not asked about. */
function after({ reasons }: Schemas["Explanation"]): Reason[] {
  const own = reasons.filter((reason) => reason.weighs === "against" && !reason.next);
  return own.map(({ since: _, ...reason }) => reason);
}
