/** Has the definition in Git, where it is reviewed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Action } from "../actions/dialog";
import { post } from "../api/client";
import { type Definitions, type Draft, definitions, draft, drafts } from "../api/queries";
import { Answer } from "../parts/ask";
import { Ago } from "../parts/time";
import { useMay } from "../session/rights";
import type { Checked } from "./findings";
import type { Form } from "./form";

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function Propose({
  form,
  text,
  checked,
  done,
}: {
  form: Form;
  text: string;
  checked: Checked;
  done: () => void;
}) {
  const found = useQuery(definitions);
  // A namespace that is not typed to its end is none that anybody has a right in.
  const may = useMay("define", NAMESPACE.test(form.namespace) ? form.namespace : undefined);
  return (
    <Answer of={found} what="where definitions go" level="part">
      {(kept) => {
        if (!kept) return <Nowhere />;
        if (!may) return <Forbidden namespace={form.namespace} />;
        return <Offered form={form} text={text} checked={checked} kept={kept} done={done} />;
      }}
    </Answer>
  );
}

function Nowhere() {
  return (
    <p className="text-sm text-muted">
      This server was started without <code>--definitions</code>, so it cannot propose anything. Copy the definition or
      save it, and commit it where your definitions are.
    </p>
  );
}

function Forbidden({ namespace }: { namespace: string }) {
  return (
    <p className="text-sm text-muted">
      You may not define pipelines in {namespace ? <b>{namespace}</b> : "all namespaces"}. Copy the definition or save
      it, and ask somebody who may.
    </p>
  );
}

function Offered({
  form,
  text,
  checked,
  kept,
  done,
}: {
  form: Form;
  text: string;
  checked: Checked;
  kept: Definitions;
  done: () => void;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { namespace, name } = form;
  const { data } = useQuery(drafts);
  const before = data?.find((it) => it.namespace === namespace && it.name === name);
  const fill = (pattern: string) => pattern.replace("NAMESPACE", namespace).replace("NAME", name);
  const act = async ({ why }: { why: string }) => {
    const made = await post<Draft>("/drafts", { manifest: text, why: why || null });
    done();
    client.setQueryData(draft(namespace, name).queryKey, made);
    void client.invalidateQueries(drafts);
    await navigate({ to: "/drafts/$namespace/$name", params: { namespace, name } });
  };
  return (
    <Action label="Propose …" primary title={`Propose ${namespace}/${name}`} disabled={obstacle(checked)} act={act}>
      <p>
        Weir commits the definition to a branch of its own
        {kept.forge === "git"
          ? ". It is reviewed and merged here, among the proposals."
          : `, and opens a pull request on ${kept.forge}. It is reviewed and merged there.`}
      </p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        <dt className="text-muted">File</dt>
        <dd className="font-mono wrap-anywhere">{fill(kept.file)}</dd>
        <dt className="text-muted">Branch</dt>
        <dd className="font-mono wrap-anywhere">
          {fill(kept.branch)} into {kept.base}
        </dd>
        <dt className="text-muted">Repository</dt>
        <dd className="wrap-anywhere">{kept.repository}</dd>
      </dl>
      {before && (
        <p className="text-wait">
          {before.by} has proposed one of this name <Ago at={before.at} />, which waits still. This takes its place.
        </p>
      )}
      <p>The pipeline is there once it is merged, and whatever follows that repository has taken it in.</p>
    </Action>
  );
}

/** Why it cannot be proposed as it is. */
function obstacle({ findings, current, error }: Checked): string | undefined {
  if (error) return error.message;
  if (!current) return "It is being checked";
  return findings.length > 0 ? "Something is wrong with it still" : undefined;
}
