/**
 * A question before something is done: what will happen, and why it is wanted. The answer of the server is shown as it is.
 *
 * What is confirmed is what was looked at, whatever the page shows meanwhile. So the question does not stand where it was
 * asked: it stays when what it is about is gone from there, and says so.
 */
import { useMutation } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { goOn, told } from "../shell/told";

export interface Asked {
  /** Why, in their words. */
  why: string;
  /** The fields of the form. */
  fields: FormData;
}

interface What {
  label: string;
  title: string;
  /** Exactly what it is about, such as a commit. It is done to that, or refused. */
  about?: string;
  /** What will happen, and what has to be said. */
  children: ReactNode;
  act: (asked: Asked) => Promise<unknown>;
  /** What was done, if the title does not say it. */
  done?: (asked: Asked) => string;
  needsReason?: boolean;
}

/** A question that is open, and what it would be by now. */
interface Open {
  id: string;
  asked: What;
  now: What | undefined;
}

interface Host {
  ask(id: string, what: What): void;
  /** Tells what would be asked by now; `undefined`: nothing any more. */
  update(id: string, now: What | undefined): void;
}

const Questions = createContext<Host>({ ask: () => {}, update: () => {} });

/** Keeps a question from being confirmed, and says why elsewhere. */
const Block = createContext<(blocked: boolean) => void>(() => {});

export function useBlock(blocked: boolean) {
  const block = useContext(Block);
  useEffect(() => {
    block(blocked);
    return () => block(false);
  }, [block, blocked]);
}

const subject = (what: What | undefined) => what && (what.about ?? what.title);

/** Where questions stand. One that was asked on another page is not asked any more. */
export function QuestionHost({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<Open>();
  const { pathname } = useLocation();
  const host = useMemo<Host>(
    () => ({
      ask: (id, what) => setOpen({ id, asked: what, now: what }),
      update: (id, now) =>
        setOpen((known) => (known?.id !== id || subject(known.now) === subject(now) ? known : { ...known, now })),
    }),
    [],
  );
  const close = useCallback(() => {
    setOpen(undefined);
    goOn();
  }, []);
  useEffect(close, [pathname]);
  return (
    <Questions.Provider value={host}>
      {children}
      {open && <Question {...open} close={close} />}
    </Questions.Provider>
  );
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
  const id = useId();
  const { ask, update } = useContext(Questions);
  useEffect(() => update(id, what));
  useEffect(() => () => update(id, undefined), [id, update]);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const { current } = button;
    return () => {
      if (document.activeElement === current) goOn();
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      className={`button ${primary ? "primary" : ""}`}
      disabled={disabled !== undefined}
      title={disabled}
      onClick={() => ask(id, what)}
    >
      {what.label}
      {names && <span className="sr-only"> {names}</span>}
    </button>
  );
}

/** What became of what is asked about, since it was. */
function changed({ asked, now }: Open): string | undefined {
  if (subject(now) === subject(asked)) return undefined;
  if (!now) return "This is not there to be done any more; cancel to look again.";
  const by = now.title === asked.title ? "" : `: by now it would be "${now.title}"`;
  const then = asked.about ? "This would be refused" : "What is asked for is still what stands here";
  return `It has changed since you opened this${by}. ${then}; cancel to look again.`;
}

function Question({ close, ...open }: Open & { close: () => void }) {
  const { title, label, children, act, done, needsReason = false } = open.asked;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const last = label.replace(/ …$/, "");
  const busy = useRef(false);
  const [blocked, setBlocked] = useState(false);
  const acting = useMutation({
    mutationFn: act,
    onSuccess: (_, asked) => {
      dialog.current?.close();
      told(done?.(asked) ?? `Done: ${title}`);
    },
    onSettled: () => {
      busy.current = false;
    },
  });
  useEffect(() => dialog.current?.showModal(), []);
  const news = changed(open);
  const isOver = news !== undefined && (open.now === undefined || open.asked.about !== undefined);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy.current || blocked || isOver) return;
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
        <Block.Provider value={setBlocked}>{children}</Block.Provider>
        {news && (
          <p role="alert" className="text-wait">
            {news}
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
          <button type="submit" className="button primary" disabled={acting.isPending || blocked || isOver}>
            {acting.isPending ? "Asking …" : last}
          </button>
        </div>
      </form>
    </dialog>
  );
}
