/** Asks the server. What it refuses is thrown as a `Refusal`, in the server's own words. */
import { session } from "../session/session";
import type { components } from "./schema";

export type Schemas = components["schemas"];

export class Refusal extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, detail: string) {
    super(detail);
    this.status = status;
    this.title = title;
  }
}

/** What could not be asked at all. */
export class Unreachable extends Error {}

export type Query = Record<string, string | number | boolean | undefined>;

function address(path: string, query: Query): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") asked.set(name, String(value));
  }
  const text = asked.toString();
  return `/api/v1${path}${text ? `?${text}` : ""}`;
}

export async function send(path: string, options: RequestInit = {}, query: Query = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = session.token();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let answer: Response;
  try {
    answer = await fetch(address(path, query), { ...options, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable("The server does not answer.");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) session.refused();
  throw await refusal(answer);
}

async function refusal(answer: Response): Promise<Refusal> {
  try {
    const told = (await answer.json()) as Schemas["Problem"];
    return new Refusal(answer.status, told.title, told.detail);
  } catch {
    return new Refusal(answer.status, answer.statusText, `The server answered ${answer.status}.`);
  }
}

export async function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const answer = await send(path, signal ? { signal } : {}, query);
  return (await answer.json()) as T;
}

export async function post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

interface Page<T> {
  items: T[];
  continue?: string | null;
}

/** Every page of a list. */
export async function readAll<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page: Page<T> = await read(path, { ...query, limit: 500, continue: next }, signal);
    items.push(...page.items);
    next = page.continue ?? undefined;
  } while (next);
  return items;
}
