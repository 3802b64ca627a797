import type { ServerResponse } from 'node:http';
import type { StreamMessage } from './inspect-api.js';

const MAX_STREAMS = 16;
/** A reader that is this far behind is disconnected. The page then connects again. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

/** The pages that receive new data as server-sent events. */
export class LiveStreams {
  readonly #open = new Set<ServerResponse>();

  get size(): number {
    return this.#open.size;
  }

  /** Starts a stream. If there are too many, the oldest one is ended. */
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
