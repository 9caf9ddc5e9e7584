/** What a proposal changes, file by file. */
import { useQuery } from "@tanstack/react-query";
import { diff } from "../api/queries";
import { Answer } from "../parts/ask";
import { Scroll } from "../parts/scroll";

export function Differences({ namespace, name, head }: { namespace: string; name: string; head: string }) {
  const found = useQuery(diff(namespace, name, head));
  return (
    <Answer of={found} what="the change" level="part">
      {({ files }) =>
        files.length === 0 ? (
          <p className="text-muted">Nothing is left to change: the base branch says it already.</p>
        ) : (
          files.map((file) => (
            <figure key={file.path} className="mb-4">
              <figcaption className="font-mono text-sm font-semibold">{file.path}</figcaption>
              <Unified path={file.path} text={file.unified} />
            </figure>
          ))
        )
      }
    </Answer>
  );
}

const TONES: Record<string, string> = { "+": "bg-good/15 text-good", "-": "bg-bad/15 text-bad", "@": "text-muted" };

function Unified({ path, text }: { path: string; text: string }) {
  const lines = text.split("\n").filter((line) => !line.startsWith("---") && !line.startsWith("+++"));
  return (
    <Scroll label={`Changes of ${path}`} className="mt-1 rounded border border-line">
      <pre className="min-w-fit py-1 text-xs leading-5">
        {lines.map((line, number) => (
          <div key={number} className={`px-3 ${TONES[line[0] ?? ""] ?? ""}`}>
            {line || " "}
          </div>
        ))}
      </pre>
    </Scroll>
  );
}
