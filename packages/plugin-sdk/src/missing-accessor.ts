import { CAPABILITIES, type ToolCapabilities, type ToolContext } from '@ethosagent/types';

/** Says what a context lacks, or `undefined` when it has every accessor that was declared. */
export type FindMissing = (ctx: ToolContext) => string | undefined;

/**
 * Works out once which accessors a tool's context must have.
 *
 * @returns `undefined` for a tool that needs none, so that it pays nothing
 */
export function missingAccessorCheck(
  toolName: string,
  capabilities: ToolCapabilities,
): FindMissing | undefined {
  const declared = new Map<string, unknown>(Object.entries(capabilities));
  const required = Object.entries(CAPABILITIES).filter(
    ([capability]) => declared.get(capability) !== undefined,
  );
  if (required.length === 0) return undefined;
  const needsBackground = capabilities.process?.background === true;
  return (ctx) => {
    for (const [capability, { accessor, remedy }] of required) {
      if (ctx[accessor] === undefined) {
        return `${toolName} declares ${capability}, but ctx.${accessor} is missing: ${remedy}`;
      }
    }
    if (needsBackground && ctx.scopedProcess?.background === undefined) {
      return `${toolName} declares process.background, but ctx.scopedProcess.background is missing: call the tool through a tool registry, which holds the processes of a session`;
    }
    return undefined;
  };
}
