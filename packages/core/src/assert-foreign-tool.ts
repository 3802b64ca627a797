import { isObject, isThenable } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/**
 * Refuses what is no tool of a framework, such as nothing, or a promise of a tool.
 *
 * @param of what takes the tool, for the message
 * @param tool as the caller gave it
 * @throws `TOOL_INVALID`
 */
export function assertForeignTool(of: string, tool: unknown): void {
  if (isObject(tool) && !isThenable(tool)) return;
  throw new EthosError(
    'TOOL_INVALID',
    `${of}: the tool is none; give a tool of the framework, after await`,
  );
}
