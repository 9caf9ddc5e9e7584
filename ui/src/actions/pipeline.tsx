/** What can be done with a whole pipeline. */
import { post } from "../api/client";
import type { Pipeline } from "../api/queries";
import { useMay } from "../session/rights";
import { Action } from "./dialog";

export function SuspendOrResume({ pipeline }: { pipeline: Pipeline }) {
  const { namespace, name, suspended } = pipeline;
  const may = useMay("operate", namespace);
  if (!may || !pipeline.defined) return null;
  const path = `/pipelines/${namespace}/${name}/${suspended ? "resume" : "suspend"}`;
  return suspended ? (
    <Action label="Resume" title={`Resume ${name}`} act={({ why }) => post(path, { why: why || null })}>
      <p>Weir writes to Git for it again. If its definition suspends it, it stays suspended.</p>
    </Action>
  ) : (
    <Action label="Suspend" title={`Suspend ${name}`} act={({ why }) => post(path, { why: why || null })}>
      <p>
        Nothing is written to Git for it until somebody resumes it. What Flux deploys goes on, and is shown. Open pull
        requests stay open.
      </p>
    </Action>
  );
}
