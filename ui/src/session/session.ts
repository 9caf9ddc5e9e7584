/** The token of whoever looks. It is kept for this tab alone, and forgotten with it. */
const KEY = "weir.token";

type Listener = () => void;

const listeners = new Set<Listener>();
let wanted = false;

function changed() {
  for (const listener of listeners) listener();
}

export const session = {
  token: () => sessionStorage.getItem(KEY),

  /** Whether the server wants a token, or another one. */
  isWanted: () => wanted,

  refused() {
    if (wanted) return;
    wanted = true;
    changed();
  },

  signIn(token: string) {
    sessionStorage.setItem(KEY, token.trim());
    wanted = false;
    changed();
  },

  /** Whoever comes next finds nothing of what was typed. */
  signOut() {
    sessionStorage.clear();
    wanted = true;
    changed();
  },

  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};
