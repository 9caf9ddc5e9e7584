/** A new pipeline, in a form; beside it the definition as it grows. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { pipelines } from "../api/queries";
import { Sign } from "../parts/badge";
import { distinct } from "../pipelines/summary";
import { useNamespaces, useOwnNamespaces } from "../session/rights";
import { Definition } from "./definition";
import { Environments } from "./environments";
import { Select, Text } from "./field";
import { type Checked, type Finding, Found, useFindings } from "./findings";
import { EMPTY, type Form, KINDS, kept, yaml } from "./form";
import { Propose } from "./propose";
import { Strategy } from "./strategy";

const KIND_WORDS = Object.fromEntries(Object.keys(KINDS).map((it) => [it, it]));

/** The definition begins with its name, so it is told there. */
const TAKEN: Finding = {
  line: 4,
  column: 9,
  path: "metadata.name",
  message: "there is a pipeline of this name already; choose another, or change that one where it is defined",
};

export function DefinePage() {
  const [form, setForm] = useState(kept.load);
  const proposed = useRef(false);
  const { data } = useQuery(pipelines);
  const text = useMemo(() => yaml(form), [form]);
  const linted = useFindings(text);
  const taken = data?.some((it) => it.namespace === form.namespace && it.name === form.name);
  const checked = taken ? { ...linted, findings: [...linted.findings, TAKEN] } : linted;
  useEffect(() => {
    if (!proposed.current) kept.save(form);
  }, [form]);
  const [own] = useOwnNamespaces();
  useEffect(() => {
    // Whoever has rights in one namespace means that one, unless they said another.
    if (own) setForm((known) => (known === EMPTY ? { ...known, namespace: own } : known));
  }, [own]);
  const change = (changed: Partial<Form>) => setForm((known) => ({ ...known, ...changed }));
  const clusters = distinct((data ?? []).flatMap((it) => it.environments.flatMap((each) => each.clusters)));
  const namespaces = useNamespaces();
  return (
    <Found value={checked.findings}>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold">New pipeline</h1>
        <button
          type="button"
          className="button ml-auto"
          onClick={() => confirm("Empty the form? What was typed is lost.") && setForm(EMPTY)}
        >
          Begin anew
        </button>
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <form aria-label="New pipeline" className="min-w-0 space-y-4" onSubmit={(event) => event.preventDefault()}>
          <fieldset className="card grid min-w-0 grid-cols-1 gap-3 p-4">
            <legend className="px-1 font-semibold">What is promoted</legend>
            <div className="flex flex-wrap items-start gap-2">
              <Text
                label="Namespace of the pipeline"
                path="metadata.namespace"
                value={form.namespace}
                options={namespaces}
                onChange={(namespace) => change({ namespace })}
              />
              <Text
                label="Name of the pipeline"
                path="metadata.name"
                value={form.name}
                onChange={(name) => change({ name })}
              />
            </div>
            <div className="flex flex-wrap items-start gap-2">
              <Select
                label="Kind of application"
                value={form.kind}
                options={KIND_WORDS}
                onChange={(kind) => change({ kind: kind as Form["kind"] })}
              />
              <Text
                label="Name of the application"
                path="spec.appRef.name"
                value={form.app}
                onChange={(app) => change({ app })}
                hint="The same in every target."
              />
            </div>
          </fieldset>
          <Environments form={form} change={change} clusters={clusters} />
          <Strategy form={form} change={change} />
        </form>
        <section aria-label="Definition" className="card min-w-0 self-start p-4 lg:sticky lg:top-4">
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <h2 className="font-semibold">Its definition</h2>
            <Verdict checked={checked} />
          </div>
          <Definition text={text} findings={checked.findings} />
          <div className="mt-3 flex flex-wrap items-center gap-2">
            <Propose
              form={form}
              text={text}
              checked={checked}
              done={() => {
                proposed.current = true;
                kept.clear();
              }}
            />
            <CopyAndSave name={form.name || "pipeline"} text={text} />
          </div>
        </section>
      </div>
    </Found>
  );
}

function Verdict({ checked: { findings, current, error } }: { checked: Checked }) {
  const count = findings.length;
  return (
    <p role="status" className="text-sm">
      {error ? (
        <span className="text-bad">It cannot be checked: {error.message}</span>
      ) : !current ? (
        <span className="text-muted">Checking …</span>
      ) : count === 0 ? (
        <span className="text-good">
          <Sign tone="good" /> Nothing is wrong with it
        </span>
      ) : (
        <span className="text-bad">
          <Sign tone="bad" /> {count === 1 ? "1 finding" : `${count} findings`}
        </span>
      )}
    </p>
  );
}

function CopyAndSave({ name, text }: { name: string; text: string }) {
  const [copied, setCopied] = useState<string>();
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
    link.download = `${name}.yaml`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      {"clipboard" in navigator && (
        <button
          type="button"
          className="button"
          onClick={() =>
            void navigator.clipboard.writeText(text).then(
              () => setCopied(text),
              () => setCopied("refused"),
            )
          }
        >
          Copy
        </button>
      )}
      <button type="button" className="button" onClick={save}>
        Save
      </button>
      <span role="status" className="text-sm text-muted">
        {copied === text && "Copied"}
        {copied === "refused" && "The browser does not allow that here: save it, or mark the text and copy that."}
      </span>
    </>
  );
}
