/** The objects of Flux behind a workload, and what it applied. Read from the cluster when somebody wants to see them. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Place, type TreeObject, tree } from "../api/queries";
import { Answer } from "../parts/ask";
import { Sign, type Tone } from "../parts/badge";

export function Behind({ place }: { place: Place }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="pl-4" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer text-muted">Flux objects</summary>
      {open && <Tree place={place} />}
    </details>
  );
}

function Tree({ place }: { place: Place }) {
  const found = useQuery(tree(place));
  return (
    <Answer of={found} what="the cluster" level="part">
      {(root) => (
        <ul className="mt-1" aria-label={`Flux objects behind ${place.workload}`}>
          <Branch object={root} />
        </ul>
      )}
    </Answer>
  );
}

const STATES: Record<string, [Tone, string]> = {
  healthy: ["good", "healthy"],
  progressing: ["move", "on its way"],
  failed: ["bad", "failed"],
  missing: ["bad", "missing"],
  unread: ["plain", ""],
};

/** A digest is told by its beginning. */
const short = (version: string) => version.replace(/(sha\d+:[0-9a-f]{12})[0-9a-f]+/g, "$1");

function Branch({ object }: { object: TreeObject }) {
  const [tone, words] = STATES[object.state] ?? ["plain", object.state];
  return (
    <li className="mt-1">
      <p className="wrap-anywhere">
        <Sign tone={tone} /> <span className="text-muted">{object.kind}</span> {object.name}{" "}
        {object.version && <span className="font-mono text-xs">{short(object.version)}</span>}{" "}
        <span className="text-muted">{words}</span>
      </p>
      {object.message && (
        <p className={`pl-4 wrap-anywhere ${tone === "bad" ? "text-bad" : "text-muted"}`}>{object.message}</p>
      )}
      {(object.leadsTo.length > 0 || object.leftOut > 0) && (
        <ul className="ml-1.5 border-l border-line pl-3">
          {object.leadsTo.map((inner) => (
            <Branch key={`${inner.kind}/${inner.namespace}/${inner.name}`} object={inner} />
          ))}
          {object.leftOut > 0 && <li className="mt-1 text-muted">and {object.leftOut} more</li>}
        </ul>
      )}
    </li>
  );
}
