/** How a pipeline is defined. Asked for when somebody wants to see it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { manifest, type Pipeline } from "../api/queries";
import { Answer } from "../parts/ask";
import { Scroll } from "../parts/scroll";

export function Manifest({ pipeline }: { pipeline: Pipeline }) {
  const [open, setOpen] = useState(false);
  if (!pipeline.defined) return null;
  return (
    <details className="mt-4" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="mb-2 cursor-pointer font-medium">Definition (YAML)</summary>
      {open && <Text namespace={pipeline.namespace} name={pipeline.name} />}
    </details>
  );
}

function Text({ namespace, name }: { namespace: string; name: string }) {
  const found = useQuery(manifest(namespace, name));
  return (
    <Answer of={found} what="its definition" level="part">
      {(text) => (
        <Scroll label="Definition" className="card p-4">
          <pre className="text-xs leading-5">{text}</pre>
        </Scroll>
      )}
    </Answer>
  );
}
