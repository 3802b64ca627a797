import type { AnyTool, ToolResult } from '@ethosagent/types';

/**
 * Whether somebody else may have written a result: its tool is not known, or declares that its
 * results are untrusted.
 *
 * @param tool that gave the result; `undefined` if it is unknown
 * @param result of the tool
 */
export function mayBeForeign(tool: AnyTool | undefined, result: ToolResult): boolean {
  const isSaid = tool === undefined || (tool.outputIsUntrusted ?? tool.unconfined === true);
  return isSaid && !(result.ok && result.untrusted === false);
}
