import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"] } },
      // Every file starts a program and a browser of its own.
      {
        test: {
          name: "browser",
          include: ["tests/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: true,
        },
      },
    ],
  },
});
