/** One difference between a lock and what there is now, by its effect. */
export interface LockChange {
  /**
   * `widened`: something may be allowed now that was not, so that somebody has to review it.
   * `narrowed`: something is not allowed any more. `text`: neither.
   */
  readonly kind: 'widened' | 'narrowed' | 'text';
  /** What changed, as a sentence without its subject: `gains requests to api.example.com`. */
  readonly message: string;
  readonly personality?: string;
  readonly tool?: string;
  /** The MCP server. */
  readonly server?: string;
  /** The host, path, ref, … that it is about. */
  readonly entry?: string;
  /** The key of the personality that decides on it, e.g. `safety.network.allow`. */
  readonly policy?: string;
  /** The key of the tool's declaration that decides on it, e.g. `network.allowedHosts`. */
  readonly declared?: string;
  /** The file that says so now, and the line where there is one. */
  readonly file?: string;
  readonly line?: number;
}
