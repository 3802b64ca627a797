/** One way in which the tools and a personality don't fit together, or in which a store or the machine fails. */
export interface RuntimeProblem {
  /** The personality's file, or `mcp.json`; empty for a store and for processes. */
  file: string;
  /** The key in it, e.g. `fs_reach.read`; or the option, e.g. `stores.keyValue`; `process` for the machine's processes, `audit` for the log. */
  key: string;
  /** The tool, or the entry of the file that names nothing; empty for a store and for processes. */
  tool: string;
  message: string;
  /** Calls of the tool are refused. Otherwise it runs, with less than it declared. */
  heldBack: boolean;
}
