import type { StreamMessage } from '../inspect-api.js';

/** A part of the page. */
export interface View {
  element: HTMLElement;
  /** Called each time the view is shown. */
  show(): void;
  /** The search field, which the key `/` focuses. */
  search?: HTMLInputElement;
  onMessage?(message: StreamMessage): void;
  /** Called when the stream begins or begins again. Earlier messages may have been missed. */
  onConnected?(): void;
}
