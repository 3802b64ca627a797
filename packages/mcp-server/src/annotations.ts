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
  const { network, process, delegation, service, storage } = tool.capabilities;
  const effects = effectsOf(tool);
  // What a sub-agent does is not among the effects of the tool that starts it.
  const isDestructive = effects.length > 0 || delegation !== undefined;
  const readOnlyHint = !isDestructive && storage === undefined;
  return {
    readOnlyHint,
    destructiveHint: isDestructive,
    // No tool says that a second call adds nothing to the first.
    idempotentHint: readOnlyHint,
    openWorldHint:
      [network, process, delegation, service].some((declared) => declared !== undefined) ||
      effects.some((effect) => effect !== 'write'),
  };
}

const WORST = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const;
