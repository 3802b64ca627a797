import { isObject, isThenable } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';

/**
 * Refuses a value that can't be a tool of a framework: one that is not an object, or a promise.
 *
 * @param of what takes the tool, for the message
 * @param tool as the caller gave it
 * @throws `TOOL_INVALID`
 */
export function assertForeignTool(of: string, tool: unknown): void {
  if (isObject(tool) && !isThenable(tool)) return;
  throw new EthosError(
    'TOOL_INVALID',
    `${of}: give a tool of the framework; if you have a promise of a tool, await it first`,
  );
}
