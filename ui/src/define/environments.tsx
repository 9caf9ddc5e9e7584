/** The environments, in the order in which a release passes through them. */
import { useEffect, useRef } from "react";
import { Text, Wrong } from "./field";
import { type Environment, type Form, moved, next, type Target } from "./form";

interface Part {
  form: Form;
  change: (change: Partial<Form>) => void;
  clusters: readonly string[];
}

/** Moves the focus to what an action has made, or left behind. */
function useFocus(): (id: string) => void {
  const wanted = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (wanted.current) document.getElementById(wanted.current)?.focus();
    wanted.current = undefined;
  });
  return (id) => {
    wanted.current = id;
  };
}

const ADD = "define-add-environment";

export function Environments({ form, change, clusters }: Part) {
  const focus = useFocus();
  const all = form.environments;
  const set = (environments: Environment[]) => change({ environments });
  const add = () => {
    const id = next(form);
    focus(`define-environment-${id}`);
    set([...all, { id, name: "", targets: [{ id: id + 1, cluster: "", namespace: "" }] }]);
  };
  return (
    <fieldset className="card min-w-0 p-4">
      <legend className="px-1 font-semibold">Environments, first to last</legend>
      <ol className="space-y-4">
        {all.map((it, place) => (
          <li key={it.id} aria-label={it.name || `Environment ${place + 1}`} className="rounded bg-raised/40 p-3">
            <One
              environment={it}
              place={place}
              of={all.length}
              clusters={clusters}
              fresh={() => next(form)}
              set={(now) => set(all.map((other) => (other.id === it.id ? now : other)))}
              move={(by) => set(moved(all, place, by))}
              remove={() => {
                focus(ADD);
                set(all.filter((other) => other.id !== it.id));
              }}
              focus={focus}
            />
          </li>
        ))}
      </ol>
      <Wrong path="spec.environments" />
      <button id={ADD} type="button" className="button mt-3" onClick={add}>
        Add an environment
      </button>
    </fieldset>
  );
}

function One({
  environment,
  place,
  of,
  clusters,
  fresh,
  set,
  move,
  remove,
  focus,
}: {
  environment: Environment;
  place: number;
  of: number;
  clusters: readonly string[];
  fresh: () => number;
  set: (environment: Environment) => void;
  move: (by: -1 | 1) => void;
  remove: () => void;
  focus: (id: string) => void;
}) {
  const { id, name, targets } = environment;
  const path = `spec.environments[${place}]`;
  const what = name || `environment ${place + 1}`;
  const add = () => {
    const added = fresh();
    focus(`define-target-${added}`);
    set({ ...environment, targets: [...targets, { id: added, cluster: "", namespace: "" }] });
  };
  return (
    <>
      <div className="flex flex-wrap items-end gap-2">
        <Text
          id={`define-environment-${id}`}
          label={`Name of environment ${place + 1}`}
          path={`${path}.name`}
          value={name}
          onChange={(value) => set({ ...environment, name: value })}
        />
        <Move label={`Move ${what} up`} sign="↑" ends={place === 0} act={() => move(-1)} />
        <Move label={`Move ${what} down`} sign="↓" ends={place === of - 1} act={() => move(1)} />
        <button type="button" className="button" aria-label={`Remove ${what}`} onClick={remove}>
          Remove
        </button>
      </div>
      <ul className="mt-3 space-y-2">
        {targets.map((it, number) => (
          <li key={it.id} className="flex flex-wrap items-end gap-2">
            <TargetFields
              target={it}
              path={`${path}.targets[${number}]`}
              of={`of target ${number + 1} of ${what}`}
              clusters={clusters}
              set={(now) =>
                set({ ...environment, targets: targets.map((other) => (other.id === it.id ? now : other)) })
              }
            />
            {targets.length > 1 && (
              <button
                type="button"
                className="button"
                aria-label={`Remove target ${number + 1} of ${what}`}
                onClick={() => {
                  focus(`define-add-target-${id}`);
                  set({ ...environment, targets: targets.filter((other) => other.id !== it.id) });
                }}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      <Wrong path={`${path}.targets`} />
      <button
        id={`define-add-target-${id}`}
        type="button"
        className="button mt-2"
        aria-label={`Add a target to ${what}`}
        onClick={add}
      >
        Add a target
      </button>
    </>
  );
}

/** At an end it does nothing, but keeps the focus. */
function Move({ label, sign, ends, act }: { label: string; sign: string; ends: boolean; act: () => void }) {
  return (
    <button
      type="button"
      className="button aria-disabled:cursor-not-allowed aria-disabled:text-muted"
      aria-label={label}
      aria-disabled={ends}
      onClick={() => {
        if (!ends) act();
      }}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}

function TargetFields({
  target,
  path,
  of,
  clusters,
  set,
}: {
  target: Target;
  path: string;
  of: string;
  clusters: readonly string[];
  set: (target: Target) => void;
}) {
  return (
    <>
      <Text
        id={`define-target-${target.id}`}
        label="Cluster"
        of={of}
        path={`${path}.clusterRef`}
        value={target.cluster}
        options={clusters}
        placeholder="this cluster"
        onChange={(cluster) => set({ ...target, cluster: cluster.trim() })}
      />
      <Text
        label="Namespace there"
        of={of}
        path={`${path}.namespace`}
        value={target.namespace}
        onChange={(namespace) => set({ ...target, namespace })}
      />
    </>
  );
}
