/** A difference between a lock and the present state. */
export interface LockChange {
  /**
   * The effect. `widened`: something may be allowed that was not, so somebody has to review it.
   * `narrowed`: something is no longer allowed. `text`: neither.
   */
  readonly kind: 'widened' | 'narrowed' | 'text';
  /** The change, as a sentence without its subject: `gains requests to api.example.com`. */
  readonly message: string;
  readonly personality?: string;
  readonly tool?: string;
  /** The MCP server. */
  readonly server?: string;
  /** The host, path, secret ref or other entry that changed. */
  readonly entry?: string;
  /** The key of the personality that decides, e.g. `safety.network.allow`. */
  readonly policy?: string;
  /** The key of the tool's declaration that decides, e.g. `network.allowedHosts`. */
  readonly declared?: string;
  /** The file with the cause of the change, and its `line`, from 1, if there is one. */
  readonly file?: string;
  readonly line?: number;
}
