import { Duplex } from 'node:stream';
import { unawaited } from '@ethosagent/policy';
import { EthosError, type ProcessChannel } from '@ethosagent/types';

/**
 * The descriptor through which a child exchanges messages with its tool. Descriptor 3 may mark the
 * process.
 */
export const CHANNEL_DESCRIPTOR = 4;

/** The host's end of that descriptor. */
export class ChildChannel implements ProcessChannel {
  readonly #socket: Duplex | undefined;
  readonly #name: string;

  /** @param name the name of the child in errors */
  constructor(stream: unknown, name: string) {
    this.#socket = stream instanceof Duplex ? stream : undefined;
    this.#name = name;
    // The child may end in the middle of a message. That must not crash the host.
    this.#socket?.on('error', () => {});
    // Each message that is being sent adds a listener.
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
    // The tool may stop reading and still send.
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) yield chunk;
  } catch {
    // The channel was closed by one of the two ends.
  }
}
