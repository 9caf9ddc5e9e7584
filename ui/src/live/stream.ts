/**
 * Server-sent events, read with `fetch`: an `EventSource` sends no token. A stream that ends, or breaks off, is resumed
 * from the last event that was seen.
 */
import { Refusal, send } from "../api/client";

export interface Heard {
  event: string;
  id: string;
  data: string;
}

/** Takes the text of a stream apart. A piece may end anywhere. */
export class Parser {
  private rest = "";
  private last = "";

  take(piece: string): Heard[] {
    const blocks = (this.rest + piece).split(/\r?\n\r?\n/);
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => this.block(block));
  }

  private block(block: string): Heard[] {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + 1).replace(/^ /, "");
      const name = line.slice(0, colon);
      if (name === "event") event = value;
      else if (name === "data") data.push(value);
      else if (name === "id") this.last = value;
    }
    return data.length > 0 ? [{ event, id: this.last, data: data.join("\n") }] : [];
  }
}

export interface Listener {
  heard(event: Heard): void;
  connected(): void;
  /** The connection is gone; or the server answers, and says why it does not tell anything. */
  lost(why?: string): void;
}

const PAUSES = [500, 1000, 2000, 4000, 8000];

/** The server gives a sign of life every 15 seconds. One that is silent for longer has hung. */
const SILENCE = 35_000;

/** Follows until it is told to stop. */
export function follow(listener: Listener): () => void {
  const stop = new AbortController();
  void run(listener, stop.signal);
  return () => stop.abort();
}

async function run(listener: Listener, signal: AbortSignal) {
  let last = "";
  let failures = 0;
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = last ? { "Last-Event-ID": last } : {};
      const watch = new Watch(signal);
      const answer = await send("/events", { signal: watch.signal, headers });
      for await (const heard of events(answer, watch)) {
        failures = 0;
        listener.connected();
        last = heard.id;
        listener.heard(heard);
      }
    } catch (error) {
      failures += 1;
      if (!signal.aborted) listener.lost(error instanceof Refusal ? error.message : undefined);
    }
    if (signal.aborted) return;
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 1000, signal);
  }
}

/** Gives up on a connection that is silent for too long. */
class Watch {
  private readonly silent = new AbortController();
  readonly signal: AbortSignal;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stop: AbortSignal) {
    this.signal = AbortSignal.any([stop, this.silent.signal]);
    this.alive();
  }

  /** Something was heard. */
  alive() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.silent.abort(new Error("silence")), SILENCE);
  }

  end() {
    clearTimeout(this.timer);
  }
}

async function* events(answer: Response, watch: Watch): AsyncGenerator<Heard> {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new Parser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.alive();
      yield* parser.take(value);
    }
  } finally {
    watch.end();
  }
}

function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, time);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
