import { Duplex } from 'node:stream';
import { unawaited } from '@ethosagent/policy';
import { EthosError, type ProcessChannel } from '@ethosagent/types';

/** The descriptor of a child by which it talks with its tool. The one before may mark it. */
export const CHANNEL_DESCRIPTOR = 4;

/** The host's end of a descriptor of a child. */
export class ChildChannel implements ProcessChannel {
  readonly #socket: Duplex | undefined;
  readonly #name: string;

  /** @param name what the child is called in errors */
  constructor(stream: unknown, name: string) {
    this.#socket = stream instanceof Duplex ? stream : undefined;
    this.#name = name;
    // A child that ends in the middle of a message is no failure of the host's.
    this.#socket?.on('error', () => {});
    // One for each message on its way.
    this.#socket?.setMaxListeners(0);
  }

  get received(): AsyncIterable<Uint8Array> {
    return chunksOf(this.#socket);
  }

  send(text: string): Promise<void> {
    return unawaited(
      new Promise((resolve, reject) => {
        const ended = () => {
          reject(new EthosError('PROCESS_ENDED', `${this.#name} takes no more messages`));
        };
        const socket = this.#socket;
        if (socket === undefined || !socket.writable) return ended();
        socket.once('close', ended);
        socket.write(text, (error) => {
          socket.off('close', ended);
          if (error) ended();
          else resolve();
        });
      }),
    );
  }

  close(): void {
    this.#socket?.destroy();
  }
}

async function* chunksOf(socket: Duplex | undefined): AsyncGenerator<Uint8Array> {
  if (socket === undefined || socket.destroyed) return;
  try {
    // Who stops reading may still have something to say.
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) yield chunk;
  } catch {
    // It was closed, here or there.
  }
}
