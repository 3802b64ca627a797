import { effectsOf } from '@ethosagent/policy';
import type { AnyTool } from '@ethosagent/types';
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';

/**
 * What a client is told of what calls of a tool do, from what the tool declares. Of what is not
 * known the worst.
 */
export function annotationsOf(
  tool: Pick<AnyTool, 'capabilities' | 'effects' | 'unconfined'> | undefined,
): Required<Omit<ToolAnnotations, 'title'>> {
  if (tool === undefined || tool.unconfined === true) return WORST;
  const { network, process, delegation, calls, service, storage } = tool.capabilities;
  const effects = effectsOf(tool);
  // What sub-agents and other tools do is not among the effects of the tool that has them do it.
  const isDestructive = [delegation, calls].some(isDeclared) || effects.length > 0;
  const readOnlyHint = !isDestructive && storage === undefined;
  return {
    readOnlyHint,
    destructiveHint: isDestructive,
    // No tool says that a second call adds nothing to the first.
    idempotentHint: readOnlyHint,
    openWorldHint:
      [network, process, delegation, calls, service].some(isDeclared) ||
      effects.some((effect) => effect !== 'write'),
  };
}

const WORST = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;

function isDeclared(capability: unknown): boolean {
  return capability !== undefined;
}
