/** What will come of it if it is confirmed: the server plays it through on what it knows now. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Refusal } from "../api/client";
import { type Considered, preview } from "../api/queries";
import { Sign } from "../parts/badge";

export function Preview(considered: Considered) {
  const heading = useId();
  const { data, error, isPending, isPlaceholderData } = useQuery({
    ...preview(considered),
    placeholderData: keepPreviousData,
  });
  const fresh = data && !error;
  return (
    <section
      aria-labelledby={heading}
      aria-live="polite"
      aria-busy={isPending || isPlaceholderData}
      className={`card space-y-2 p-3 text-sm ${isPlaceholderData ? "opacity-60" : ""}`}
    >
      <h3 id={heading} className="font-semibold">
        What will happen
      </h3>
      {isPending && <p className="text-muted">Playing it through …</p>}
      {error && (
        <p className="text-bad">{error instanceof Refusal ? `It would be refused: ${error.message}` : error.message}</p>
      )}
      {fresh && (
        <>
          <ul className="list-disc space-y-1 pl-5">
            {data.notes.map((note) => (
              <li key={note}>{note}.</li>
            ))}
            {data.steps.map((step) => (
              <li key={step}>Weir {step}.</li>
            ))}
            <li>After that: {data.then.headline}.</li>
          </ul>
          <ul className="space-y-2">
            {data.then.reasons
              .filter((reason) => reason.weighs === "against")
              .map((reason) => (
                <li key={reason.name + reason.sentence} className="border-l-2 border-wait pl-3">
                  <p>
                    <Sign tone="wait" /> {reason.sentence}
                  </p>
                  {reason.remedy && <p className="text-muted">{reason.remedy}</p>}
                </li>
              ))}
          </ul>
        </>
      )}
    </section>
  );
}
