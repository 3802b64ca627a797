/** A problem: the tools and a personality do not fit together, or a store or the machine fails. */
export interface RuntimeProblem {
  /** The personality's file, or `mcp.json`. Empty for a store and for processes. */
  file: string;
  /**
   * The key in the file, e.g. `fs_reach.read`, or the option, e.g. `stores.keyValue`. `process` for
   * the processes of the machine, `audit` for the log.
   */
  key: string;
  /**
   * The tool, or the entry of the file that matches nothing. Empty for a store and for processes.
   */
  tool: string;
  message: string;
  /** Whether calls of the tool are refused. If not, the tool runs with less than it declared. */
  heldBack: boolean;
}
