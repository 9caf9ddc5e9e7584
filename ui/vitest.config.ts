import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      // Run by `npm run bench` alone.
      ...(process.env["BENCH"]
        ? [{ test: { name: "bench", include: ["bench/**/*.bench.ts"], testTimeout: 600_000 } }]
        : []),
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
