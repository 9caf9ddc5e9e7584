/** The way to a pipeline, by its name. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";

export function PipelineLink({ pipeline }: { pipeline: Schemas["PipelineRef"] }) {
  const { namespace, name } = pipeline;
  return (
    <Link to="/pipelines/$namespace/$name" params={{ namespace, name }} className="link">
      {namespace}/{name}
    </Link>
  );
}
