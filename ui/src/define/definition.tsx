/** A definition, line by line, with what is wrong beneath its line. */
import { Scroll } from "../parts/scroll";
import { type Finding, sentence } from "./findings";

export function Definition({ text, findings = [] }: { text: string; findings?: Finding[] }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <Scroll label="The definition, in YAML" className="rounded border border-line">
      <ol className="min-w-fit py-1 font-mono text-xs leading-5">
        {lines.map((line, place) => {
          const found = findings.filter((it) => Math.min(it.line, lines.length) === place + 1);
          return (
            <li key={place} className={`px-3 ${found.length > 0 ? "bg-bad/15" : ""}`}>
              <span aria-hidden="true" className="mr-3 inline-block w-6 text-right text-muted select-none">
                {place + 1}
              </span>
              <span className="whitespace-pre">{line}</span>
              {found.map((it) => (
                <p key={it.path + it.message} className="pl-9 font-sans text-bad">
                  {it.path && <span className="font-mono">{it.path}: </span>}
                  {sentence(it)}
                </p>
              ))}
            </li>
          );
        })}
      </ol>
    </Scroll>
  );
}
