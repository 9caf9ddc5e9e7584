import { expect, test } from "vitest";
import { selects } from "./selects";

const shop = { namespace: "team", name: "shop", environments: [{ name: "dev" }, { name: "prod" }] };

test("what is left out selects everything, and the first environment is never entered", () => {
  expect(selects({}, shop)).toBe(true);
  expect(selects({ namespace: "team", pipeline: "shop", environment: "prod" }, shop)).toBe(true);
  expect(selects({ pipeline: "", environment: null }, shop)).toBe(true);
  for (const other of [
    { namespace: "b" },
    { pipeline: "sho" },
    { environment: "dev" },
    { environment: "production" },
  ]) {
    expect(selects(other, shop)).toBe(false);
  }
});
