/** How a release gets from one environment to the next, and what that needs. */
import { Select, Text, Wrong } from "./field";
import { FORGES, type Form, hasRepository, WAYS, type Way } from "./form";

export function Strategy({ form, change }: { form: Form; change: (change: Partial<Form>) => void }) {
  const path = `spec.promotion.strategy.${form.way === "push" ? "push" : "pull-request"}`;
  return (
    <fieldset className="card grid min-w-0 grid-cols-1 gap-3 p-4">
      <legend className="px-1 font-semibold">How a release goes on</legend>
      <Select label="By" value={form.way} options={WAYS} onChange={(way) => change({ way: way as Way })} />
      {form.way === "forge" && (
        <Select
          label="Forge"
          value={form.forge}
          options={FORGES}
          onChange={(forge) => change({ forge: forge as Form["forge"] })}
        />
      )}
      {hasRepository(form) && (
        <>
          <Text
            label="Repository that says what runs"
            path={`${path}.url`}
            value={form.url}
            onChange={(url) => change({ url: url.trim() })}
            hint="Its address, without a password."
          />
          <div className="flex flex-wrap items-start gap-2">
            <Text
              label="Branch that Flux follows"
              path={`${path}.baseBranch`}
              value={form.branch}
              onChange={(branch) => change({ branch })}
            />
            <Text
              label="Secret that opens it"
              path={`${path}.secretRef`}
              value={form.secret}
              onChange={(secret) => change({ secret })}
              hint="Its name, in the pipeline's namespace. Empty: none is needed."
            />
          </div>
        </>
      )}
      {form.way !== "none" && (
        <Text
          label="Secret that signs its events"
          path="spec.promotion.strategy.secretRef"
          value={form.events}
          onChange={(events) => change({ events })}
          hint="Its name, in the pipeline's namespace. Needed for every cluster that Weir does not watch: what Flux or a build reports from there counts only if it is signed."
        />
      )}
      <Wrong path="spec.promotion" />
    </fieldset>
  );
}
