import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Refusal } from "./api/client";
import { LiveUpdates } from "./live/live";
import { router } from "./router";
import { SignedIn } from "./session/sign-in";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told; what was lost meanwhile is asked for when the connection is back.
      staleTime: 60_000,
      retry: (failures, error) => !(error instanceof Refusal && error.status < 500) && failures < 3,
    },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <SignedIn>
          <LiveUpdates>
            <RouterProvider router={router} />
          </LiveUpdates>
        </SignedIn>
      </QueryClientProvider>
    </StrictMode>,
  );
}
