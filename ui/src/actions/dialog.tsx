/** A question before something is done: what will happen, and why it is wanted. The answer of the server is shown as it is. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface Asked {
  /** Why, in their words. */
  why: string;
  /** The fields of the form. */
  fields: FormData;
}

export function Action({
  label,
  title,
  children,
  act,
  needsReason = false,
  primary = false,
  disabled,
}: {
  label: string;
  title: string;
  /** What will happen, and what has to be said. */
  children: ReactNode;
  act: (asked: Asked) => Promise<unknown>;
  needsReason?: boolean;
  primary?: boolean;
  /** Why it cannot be done now. */
  disabled?: string | undefined;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={`button ${primary ? "primary" : ""}`}
        disabled={disabled !== undefined}
        title={disabled}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open && (
        <Question title={title} label={label} act={act} needsReason={needsReason} close={() => setOpen(false)}>
          {children}
        </Question>
      )}
    </>
  );
}

function Question({
  title,
  label,
  children,
  act,
  needsReason,
  close,
}: {
  title: string;
  label: string;
  children: ReactNode;
  act: (asked: Asked) => Promise<unknown>;
  needsReason: boolean;
  close: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const acting = useMutation({ mutationFn: act, onSuccess: close });
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    acting.mutate({ why: String(fields.get("why") ?? "").trim(), fields });
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={close}
      className="card m-auto w-full max-w-lg p-0 text-ink backdrop:bg-black/40"
    >
      <form onSubmit={submit} className="flex flex-col gap-4 p-5">
        <h2 id={heading} className="text-lg font-semibold">
          {title}
        </h2>
        {children}
        <label className="flex flex-col gap-1">
          <span>
            Why{" "}
            <span className="text-muted">
              {needsReason ? "(everybody will see it)" : "(optional; everybody will see it)"}
            </span>
          </span>
          <textarea name="why" rows={2} required={needsReason} className="field" />
        </label>
        {acting.error && (
          <p role="alert" className="text-bad">
            {acting.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={acting.isPending}>
            {acting.isPending ? "Asking …" : label}
          </button>
        </div>
      </form>
    </dialog>
  );
}
