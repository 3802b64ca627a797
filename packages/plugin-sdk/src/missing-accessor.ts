import { CAPABILITIES, type ToolCapabilities, type ToolContext } from '@ethosagent/types';

/** Returns what a context lacks, or `undefined` if it has every declared accessor. */
export type FindMissing = (ctx: ToolContext) => string | undefined;

/**
 * Makes a check that the context of a tool has every accessor that the tool declares.
 *
 * @returns the check; `undefined` for a tool that needs no accessor, so that its calls do no extra
 * work
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
