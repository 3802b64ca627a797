import type { ToolSession } from '@ethosagent/core';
import { canonicalJson, discard } from '@ethosagent/policy';

export interface ToolListWatchParts {
  session: Pick<ToolSession, 'definitions'>;
  /** The milliseconds between two checks. */
  everyMs: number;
  onChange: () => void;
}

/** Checks regularly whether a client knows the present tools. */
export class ToolListWatch {
  readonly #parts: ToolListWatchParts;
  #told: string | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: ToolListWatchParts) {
    this.#parts = parts;
  }

  /** Records what a client was told. */
  told(definitions: unknown): void {
    this.#told = canonicalJson(definitions);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.look(), this.#parts.everyMs);
    this.#timer.unref();
  }

  look(): void {
    if (this.#told === undefined || this.#looking !== undefined) return;
    // A file that is invalid now is reported when the client asks for the list.
    this.#looking = this.#look()
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
    discard(this.#looking);
  }

  async #look(): Promise<void> {
    const now = canonicalJson(await this.#parts.session.definitions());
    if (this.#told === undefined || now === this.#told) return;
    this.#told = now;
    this.#parts.onChange();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#told = undefined;
  }
}
