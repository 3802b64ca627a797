import type { StreamMessage } from '../inspect-api.js';

const KEY = 'ethosagent-inspect';
const RECONNECT_MS = 1_000;

/** The inspector's answer to a request that failed. */
export class InspectorError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Sends requests to the inspector, with the key of this page's session. */
export class Client {
  #key: string;

  private constructor(key: string) {
    this.#key = key;
  }

  /**
   * Signs in, either with the token of the address, which works once and is then removed from it,
   * or with the key that this tab got before.
   *
   * @returns `undefined` if there is neither, or it is not valid
   */
  static async open(): Promise<Client | undefined> {
    const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
    if (token === undefined) {
      const kept = sessionStorage.getItem(KEY);
      return kept === null ? undefined : new Client(kept);
    }
    history.replaceState(null, '', location.pathname);
    const response = await fetch('/api/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    if (!response.ok) return undefined;
    const { key }: { key: string } = await response.json();
    sessionStorage.setItem(KEY, key);
    return new Client(key);
  }

  /** @throws `InspectorError` */
  get<T>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>> = {},
  ): Promise<T> {
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    return this.#ask(`${path}?${new URLSearchParams(asked)}`, {});
  }

  /** @throws `InspectorError` */
  post<T>(path: string, body: unknown): Promise<T> {
    return this.#ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /**
   * Reads new data as long as the page is open, and reports whether it is connected. Ends when the
   * key is no longer valid.
   */
  async follow(
    onMessage: (message: StreamMessage) => void,
    onState: (isConnected: boolean) => void,
  ): Promise<void> {
    for (;;) {
      try {
        const response = await fetch('/api/stream', { headers: this.#headers() });
        if (response.status === 401) return onState(false);
        if (!response.ok || response.body === null) {
          throw new InspectorError(response.status, 'no stream');
        }
        onState(true);
        await readEvents(response.body, onMessage);
      } catch {
        // The inspector has ended or is being restarted.
      }
      onState(false);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  async #ask<T>(path: string, { headers, ...init }: RequestInit): Promise<T> {
    const response = await fetch(path, {
      ...init,
      headers: { ...this.#headers(), ...Object.fromEntries(new Headers(headers)) },
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw new InspectorError(response.status, messageIn(text) ?? whyOf(response.status));
  }

  #headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#key}` };
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onMessage: (message: StreamMessage) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, type, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? [];
      if (type !== undefined && data !== undefined) onMessage({ type, ...JSON.parse(data) });
    }
  }
}

function messageIn(text: string): string | undefined {
  try {
    const { error }: { error?: { message?: unknown } } = JSON.parse(text);
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}

function whyOf(status: number): string {
  return status === 401
    ? 'This page is not signed in. Start "ethosagent inspect" again, and open the address that it prints.'
    : `The inspector answered with ${status}.`;
}
