/** What narrows a list. All of it is in the address. */
import type { ReactNode } from "react";

export function Filters({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search aria-label={label} className="mb-4 flex flex-wrap items-end gap-3">
      {children}
    </search>
  );
}

export function Words({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <label className="flex min-w-48 flex-1 flex-col gap-1 text-sm">
      {label}
      <input
        type="search"
        className="field text-base"
        defaultValue={value ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </label>
  );
}

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string | undefined;
  options: readonly string[];
  onChange: (value: string | undefined) => void;
}) {
  return (
    <label className="flex flex-col gap-1 text-sm">
      {label}
      <select
        className="field text-base"
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="">all</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
        {value && !options.includes(value) && <option>{value}</option>}
      </select>
    </label>
  );
}
