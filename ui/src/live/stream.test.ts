import { expect, test } from "vitest";
import { Parser } from "./stream";

test("events are the same wherever the text is cut", () => {
  const text =
    'event: ready\nid: 1-0\ndata: {}\n\n: still there\n\nevent: change\nid: 1-1\ndata: {"kind":\ndata: "x"}\n\n';
  const expected = [
    { event: "ready", id: "1-0", data: "{}" },
    { event: "change", id: "1-1", data: '{"kind":\n"x"}' },
  ];
  for (let cut = 0; cut <= text.length; cut++) {
    const parser = new Parser();
    expect([...parser.take(text.slice(0, cut)), ...parser.take(text.slice(cut))], `cut at ${cut}`).toEqual(expected);
  }
});

test("what is not whole is not told", () => {
  expect(new Parser().take("event: change\ndata: {}\n")).toEqual([]);
});
