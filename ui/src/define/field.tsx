/** A field of the form, with what is wrong in the part of the definition that it makes. */
import { type ReactNode, useId, useState } from "react";
import { type Finding, sentence, useFound } from "./findings";

interface Common {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** What it is for, in a few words. */
  hint?: string;
  /** Which of several of that name it is, for those who do not see where it stands. */
  of?: string;
}

export function Text({
  path,
  options,
  placeholder,
  id,
  ...common
}: Common & {
  /** The field of the definition that it makes. */
  path: string;
  /** What is known already, to choose from. */
  options?: readonly string[];
  placeholder?: string;
  id?: string;
}) {
  const [own, list] = [useId(), useId()];
  const [left, setLeft] = useState(false);
  const found = useFound(path);
  // Before somebody has been there, it is not said that it is empty.
  const shown = left || common.value !== "" ? found : [];
  return (
    <Labelled {...common} id={id ?? own} found={shown}>
      <input
        id={id ?? own}
        value={common.value}
        onChange={(event) => common.onChange(event.target.value)}
        onBlur={() => setLeft(true)}
        aria-invalid={shown.length > 0}
        aria-describedby={shown.length > 0 || common.hint ? `${id ?? own}-about` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        list={options ? list : undefined}
        className={`field w-full font-mono ${shown.length > 0 ? "border-bad" : ""}`}
      />
      {options && (
        <datalist id={list}>
          {options.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
      )}
    </Labelled>
  );
}

export function Select({ options, ...common }: Common & { options: Record<string, string> }) {
  const id = useId();
  return (
    <Labelled {...common} id={id} found={[]}>
      <select
        id={id}
        className="field w-full"
        value={common.value}
        onChange={(event) => common.onChange(event.target.value)}
      >
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

function Labelled({
  id,
  label,
  hint,
  of,
  found,
  children,
}: {
  id: string;
  label: string;
  hint?: string;
  of?: string;
  found: Finding[];
  children: ReactNode;
}) {
  return (
    <div className="min-w-0 flex-1 basis-40">
      <label htmlFor={id} className="text-sm">
        {label}
        {of && <span className="sr-only"> {of}</span>}
      </label>
      {children}
      {(hint || found.length > 0) && (
        <div id={`${id}-about`} className="mt-1 text-sm">
          {hint && <p className="text-muted">{hint}</p>}
          {found.map((it) => (
            <p key={it.path + it.message} className="wrap-anywhere text-bad">
              {sentence(it)}
            </p>
          ))}
        </div>
      )}
    </div>
  );
}

/** What is wrong with a part of the form as a whole. */
export function Wrong({ path }: { path: string }) {
  const found = useFound(path).filter((it) => it.path === path);
  return found.map((it) => (
    <p key={it.message} className="mt-2 text-sm text-bad">
      {sentence(it)}
    </p>
  ));
}
