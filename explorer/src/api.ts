// Requests to the server. Addresses are relative: the token is part of the page's own address.

const PATIENCE_MS = 30_000;

export type Parameters = Record<string, string | number | null | undefined>;

/** The server answered, and said no; `message` are its words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The server did not answer. Whether a post arrived is not known then. */
export class Unreachable extends Error {}

export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `api/${path}${text ? `?${text}` : ""}`;
}

async function request<Answer>(url: string, options: RequestInit): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
    text = await response.text();
  } catch {
    reached(false);
    throw new Unreachable("The server does not answer.");
  }
  reached(true);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Refused(response.status, `The server answered ${response.status} without words.`);
  }
  if (!response.ok) {
    const words = (answer as { error?: string } | null)?.error;
    throw new Refused(response.status, words ?? `The server answered ${response.status}.`);
  }
  return answer as Answer;
}

export const get = <Answer>(path: string, parameters: Parameters = {}): Promise<Answer> =>
  request<Answer>(address(path, parameters), {});

let lastPost: Promise<unknown> = Promise.resolve();

/** Posts go out one at a time, in the order of the clicks; the promise is kept when the server has it on disk. */
export function post<Answer>(path: string, body: object): Promise<Answer> {
  const options = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const send = (): Promise<Answer> => request<Answer>(address(path), options);
  const sent = lastPost.then(send, send);
  lastPost = sent;
  return sent;
}

let here = true;
const listeners: ((here: boolean) => void)[] = [];

/** Tells whether the server answers, whenever that changes. */
export function onReach(listener: (here: boolean) => void): void {
  listeners.push(listener);
}

function reached(now: boolean): void {
  if (now === here) return;
  here = now;
  for (const listener of listeners) listener(now);
}
