/** The answer of `weir explain`: why an environment is not further. */
import type { Schemas } from "../api/client";
import { Sign, type Tone } from "../parts/badge";
import { For, Sentence } from "../parts/time";

const WEIGHS: Record<string, [Tone, string]> = {
  against: ["wait", "against"],
  for: ["good", "for"],
  fact: ["plain", "fact"],
};

export function Explanation({ explanation }: { explanation: Schemas["Explanation"] }) {
  return (
    <details className="text-sm">
      <summary className="cursor-pointer font-medium">Explain</summary>
      <p className="mt-2">{explanation.headline}</p>
      <ul className="mt-2 space-y-2">
        {explanation.reasons.map((because) => {
          const [tone, words] = WEIGHS[because.weighs] ?? ["plain", because.weighs];
          return (
            <li key={because.name + because.sentence}>
              <Sign tone={tone} /> <span className="sr-only">{words}: </span>
              <Sentence text={because.sentence} />
              {because.since && (
                <span className="text-muted">
                  {" "}
                  (<For since={because.since} />)
                </span>
              )}
              {because.remedy && (
                <p className="pl-4 text-muted">
                  <Sentence text={because.remedy} />
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
