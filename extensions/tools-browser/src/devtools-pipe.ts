import { EthosError, type ProcessConnection } from '@ethosagent/types';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { z } from 'zod';

/** How many characters a message of the browser may have. A page can make it send any number. */
const MAX_MESSAGE_CHARS = 24_000_000;
const HEAD_CHARS = 200;
const END = '\0';
const ANSWER_ID = /^\{"id":(\d+),/;

const messageSchema = z.looseObject({
  id: z.number().optional(),
  sessionId: z.string().optional(),
});

/** Events that this package reads itself, in addition to the library. */
const eventSchema = z.discriminatedUnion('method', [
  z.object({
    method: z.literal('Browser.downloadProgress'),
    params: z.object({ receivedBytes: z.number() }),
  }),
  z.object({
    method: z.literal('Target.attachedToTarget'),
    params: z.object({
      targetInfo: z.object({ type: z.literal('page'), openerId: z.string().optional() }),
    }),
  }),
  z.object({
    method: z.literal('Page.frameNavigated'),
    params: z.object({ frame: z.object({ parentId: z.string().optional() }) }),
  }),
]);

export interface DevtoolsPipeOptions {
  /** Called for each message that was too large. */
  onOversize?: () => void;
  /** Called with the number of bytes of a download so far. */
  onDownloadProgress?: (bytes: number) => void;
  /** Called when a tab shows another document. */
  onCommit?: () => void;
  /** Called when a page opens a tab, well before the library knows the tab. */
  onTab?: () => void;
  maxMessageChars?: number;
}

/**
 * Speaks the DevTools protocol over the standard streams of a process. Each message is JSON, with a
 * NUL after it.
 *
 * A hostile page can make the browser send huge messages. A message over the cap is dropped while
 * it is read. An answer becomes an error, and an event is left out.
 */
export class DevtoolsPipe implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
  readonly #connection: Pick<ProcessConnection, 'write' | 'end'>;
  readonly #options: DevtoolsPipeOptions;
  readonly #maxChars: number;
  /** The DevTools session of each command that has no answer yet. */
  readonly #open = new Map<number, string | undefined>();
  #parts: string[] = [];
  #chars = 0;
  #head = '';
  #isClosed = false;

  constructor(
    connection: Pick<ProcessConnection, 'write' | 'end'>,
    options: DevtoolsPipeOptions = {},
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#maxChars = options.maxMessageChars ?? MAX_MESSAGE_CHARS;
  }

  /**
   * Takes the next piece of the process's output, and resolves when its messages were passed on.
   * Each message is passed on in its own task, so that the library can handle an answer before it
   * gets the next message. Otherwise the library misses tabs when two messages come together.
   */
  async receive(text: string): Promise<void> {
    let from = 0;
    for (let at = text.indexOf(END); at !== -1; at = text.indexOf(END, from)) {
      this.#add(text.slice(from, at));
      from = at + 1;
      if (this.#finish()) await nextTask();
    }
    this.#add(text.slice(from));
  }

  send(message: object): void {
    if (this.#isClosed) throw new EthosError('CALL_ENDED', 'the browser is closed');
    const { id, sessionId } = messageSchema.parse(message);
    if (id !== undefined) this.#open.set(id, sessionId);
    this.#connection.write(`${JSON.stringify(message)}${END}`).catch(() => this.closed());
  }

  close(): void {
    if (!this.#isClosed) this.#connection.end();
  }

  /** Call it when the process has ended. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#open.clear();
    this.onclose?.();
  }

  #add(text: string): void {
    if (text === '') return;
    this.#chars += text.length;
    if (this.#head.length < HEAD_CHARS) this.#head += text.slice(0, HEAD_CHARS);
    if (this.#chars > this.#maxChars) this.#parts = [];
    else this.#parts.push(text);
  }

  /** Ends a message. @returns whether there was a message to pass on */
  #finish(): boolean {
    const [text, head, chars] = [this.#parts.join(''), this.#head, this.#chars];
    this.#parts = [];
    this.#head = '';
    this.#chars = 0;
    const message = chars > this.#maxChars ? this.#inPlaceOf(head) : parsed(text);
    if (message === undefined) return false;
    const { id } = message;
    if (id !== undefined) this.#open.delete(id);
    else this.#tell(message);
    this.onmessage?.(message);
    return true;
  }

  #tell(message: object): void {
    const event = eventSchema.safeParse(message).data;
    if (event?.method === 'Browser.downloadProgress') {
      this.#options.onDownloadProgress?.(event.params.receivedBytes);
    } else if (event?.method === 'Page.frameNavigated') {
      if (event.params.frame.parentId === undefined) this.#options.onCommit?.();
    } else if (event?.params.targetInfo.openerId !== undefined) this.#options.onTab?.();
  }

  #inPlaceOf(head: string) {
    this.#options.onOversize?.();
    const id = ANSWER_ID.exec(head)?.[1];
    if (id === undefined) return undefined;
    const sessionId = this.#open.get(Number(id));
    return {
      id: Number(id),
      ...(sessionId !== undefined && { sessionId }),
      error: { code: -32_000, message: 'the answer of the browser is too large' },
    };
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function parsed(text: string) {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
