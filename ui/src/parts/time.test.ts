import { expect, test } from "vitest";
import { ago, lasted } from "./time";

const now = Date.parse("2024-01-02T00:00:00Z");

test("times are told in the largest unit that fits", () => {
  expect(ago("2024-01-02T00:00:00Z", now)).toBe("now");
  expect(ago("2024-01-01T23:59:30Z", now)).toBe("30 sec. ago");
  expect(ago("2024-01-01T21:00:00Z", now)).toBe("3 hr. ago");
  expect(ago("2024-01-02T00:05:00Z", now)).toBe("in 5 min.");
});

test("durations are told in two units at most", () => {
  expect(lasted("2024-01-01T00:00:00Z", "2024-01-02T03:04:05Z")).toBe("1 d 3 h");
  expect(lasted("2024-01-01T00:00:00Z", "2024-01-01T00:01:05Z")).toBe("1 min 5 s");
  expect(lasted("2024-01-01T00:00:01Z", "2024-01-01T00:00:00Z")).toBe("0 s");
});
