/** A question before something is done: what will happen, and why it is wanted. The answer of the server is shown as it is. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { told } from "../shell/told";

export interface Asked {
  /** Why, in their words. */
  why: string;
  /** The fields of the form. */
  fields: FormData;
}

interface What {
  label: string;
  title: string;
  /** Exactly what it is about, such as a commit, if the title does not tell that. */
  about?: string;
  /** What will happen, and what has to be said. */
  children: ReactNode;
  act: (asked: Asked) => Promise<unknown>;
  needsReason?: boolean;
}

export function Action({
  primary = false,
  disabled,
  names,
  ...what
}: What & {
  primary?: boolean;
  /** Why it cannot be done now. */
  disabled?: string | undefined;
  /** Which of several it is, for those who do not see where it stands. */
  names?: string;
}) {
  // What is confirmed is what was looked at, whatever the page shows meanwhile.
  const [asked, setAsked] = useState<What>();
  const has = asked && (asked.about ?? asked.title) !== (what.about ?? what.title);
  return (
    <>
      <button
        type="button"
        className={`button ${primary ? "primary" : ""}`}
        disabled={disabled !== undefined}
        title={disabled}
        onClick={() => setAsked(what)}
      >
        {what.label}
        {names && <span className="sr-only"> {names}</span>}
      </button>
      {asked && <Question {...asked} changed={has ? what.title : undefined} close={() => setAsked(undefined)} />}
    </>
  );
}

function Question({
  title,
  label,
  children,
  act,
  needsReason = false,
  changed,
  close,
}: What & {
  /** What it would be about by now, if that is something else. */
  changed: string | undefined;
  close: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const last = label.replace(/ …$/, "");
  const busy = useRef(false);
  const acting = useMutation({
    mutationFn: act,
    onSuccess: () => {
      close();
      told(`Done: ${title}`);
    },
    onSettled: () => {
      busy.current = false;
    },
  });
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy.current) return;
    busy.current = true;
    const fields = new FormData(event.currentTarget);
    acting.mutate({ why: String(fields.get("why") ?? "").trim(), fields });
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={close}
      // What is being asked for is not taken back by that.
      onCancel={(event) => acting.isPending && event.preventDefault()}
      className="card m-auto w-full max-w-lg p-0 text-ink backdrop:bg-black/40"
    >
      <form onSubmit={submit} className="flex flex-col gap-4 p-5">
        <h2 id={heading} className="text-lg font-semibold">
          {title}
        </h2>
        {children}
        {changed !== undefined && (
          <p role="alert" className="text-wait">
            It has changed since you opened this{changed === title ? "" : `: by now it would be "${changed}"`}. What is
            asked for is still what stands here; cancel to look again.
          </p>
        )}
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
          <button type="button" className="button" disabled={acting.isPending} onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={acting.isPending}>
            {acting.isPending ? "Asking …" : last}
          </button>
        </div>
      </form>
    </dialog>
  );
}
