import type { StreamMessage } from '../inspect-api.js';

/** A part of the page. */
export interface View {
  element: HTMLElement;
  /** Called each time it comes into view. */
  show(): void;
  /** What is typed into to find something; the key `/` goes there. */
  search?: HTMLInputElement;
  onMessage?(message: StreamMessage): void;
  /** Called when the stream begins, or begins again: what was told before is not known. */
  onConnected?(): void;
}
