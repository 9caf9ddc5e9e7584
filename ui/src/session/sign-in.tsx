/** Where the server wants a token, nothing else is shown before it has one. */
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useSyncExternalStore } from "react";
import { session } from "./session";

export function SignedIn({ children }: { children: ReactNode }) {
  const wanted = useSyncExternalStore(session.subscribe, session.isWanted);
  return wanted ? <SignIn /> : children;
}

function SignIn() {
  const client = useQueryClient();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get("token");
    client.clear();
    session.signIn(String(token ?? ""));
  };
  return (
    <main className="mx-auto mt-24 max-w-sm p-4">
      <h1 className="text-xl font-semibold">Weir wants to know who you are</h1>
      {session.token() ? (
        <p role="alert" className="mt-2 text-bad">
          The token is not known, or no longer valid.
        </p>
      ) : (
        <p className="mt-2 text-muted">This server is open to those who have a token.</p>
      )}
      <form onSubmit={submit} className="mt-4 flex flex-col gap-3">
        <label className="flex flex-col gap-1">
          Token
          <input name="token" type="password" required autoComplete="off" className="field" />
        </label>
        <button type="submit" className="button primary justify-center">
          Sign in
        </button>
      </form>
      <p className="mt-4 text-sm text-muted">
        On one machine <code>weir token create</code> makes one, on Kubernetes <code>kubectl create token</code>. It is
        forgotten when this tab is closed.
      </p>
    </main>
  );
}
