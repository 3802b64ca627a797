import type { AnyTool, ToolEffect } from '@ethosagent/types';

/** All effects that a tool can name. */
export const EFFECTS: readonly ToolEffect[] = ['write', 'send', 'spawn'];

/**
 * The effects that calls of a tool may have outside: those that the tool names, or all that its
 * capabilities allow.
 *
 * @param tool its own list of effects, its capabilities, and whether it is unconfined
 * @returns the effects in the order `write`, `send`, `spawn`
 */
export function effectsOf(
  tool: Pick<AnyTool, 'effects' | 'capabilities' | 'unconfined'>,
): readonly ToolEffect[] {
  if (tool.effects !== undefined) return EFFECTS.filter((effect) => tool.effects?.includes(effect));
  if (tool.unconfined === true) return EFFECTS;
  const { fs_reach, memory, network, process } = tool.capabilities;
  const declared: Record<ToolEffect, boolean> = {
    write: isSome(fs_reach?.write) || memory?.access === 'read-write',
    send: isSome(network?.allowedHosts),
    spawn: isSome(process?.allowedBinaries),
  };
  return EFFECTS.filter((effect) => declared[effect]);
}

function isSome(declared: readonly string[] | string | undefined): boolean {
  return declared !== undefined && declared.length > 0;
}
