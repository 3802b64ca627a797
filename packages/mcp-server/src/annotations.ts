import { effectsOf } from '@ethosagent/policy';
import type { AnyTool } from '@ethosagent/types';
import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';

/**
 * Returns what a client is told about the effects of a tool, derived from the tool's declaration.
 * An unknown effect counts as the worst case.
 */
export function annotationsOf(
  tool: Pick<AnyTool, 'capabilities' | 'effects' | 'unconfined'> | undefined,
): Required<Omit<ToolAnnotations, 'title'>> {
  if (tool === undefined || tool.unconfined === true) return WORST;
  const { network, process, delegation, calls, service, storage } = tool.capabilities;
  const effects = effectsOf(tool);
  // The effects of a tool don't include those of sub-agents and of tools that it calls.
  const isDestructive = [delegation, calls].some(isDeclared) || effects.length > 0;
  const readOnlyHint = !isDestructive && storage === undefined;
  return {
    readOnlyHint,
    destructiveHint: isDestructive,
    // No tool declares that a second call has no further effect.
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
