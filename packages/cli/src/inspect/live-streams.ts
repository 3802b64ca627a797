import type { ServerResponse } from 'node:http';
import type { StreamMessage } from './inspect-api.js';

const MAX_STREAMS = 16;
/** A reader that is so far behind is let go; the page comes again. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

/** Pages that are told of what is new, as server-sent events. */
export class LiveStreams {
  readonly #open = new Set<ServerResponse>();

  get size(): number {
    return this.#open.size;
  }

  /** Begins a stream. Of too many, the oldest ends. */
  add(response: ServerResponse): void {
    const [oldest] = this.#open;
    if (this.#open.size >= MAX_STREAMS) oldest?.destroy();
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.write(': welcome\n\n');
  }

  send({ type, ...data }: StreamMessage): void {
    const text = `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const response of this.#open) {
      if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
      else response.write(text);
    }
  }

  close(): void {
    for (const response of this.#open) response.destroy();
  }
}
