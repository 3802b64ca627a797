import { validateDeclaration } from '@ethosagent/core';
import { type AnyTool, EthosError } from '@ethosagent/types';

/** @throws `TOOL_INVALID` with one line for every mistake */
export function assertDeclarations(tools: readonly AnyTool[]): void {
  const mistakes = tools.flatMap((tool) =>
    validateDeclaration(tool.capabilities).map(
      ({ capability, message }) => `${tool.name}: ${capability}: ${message}`,
    ),
  );
  if (mistakes.length > 0) throw new EthosError('TOOL_INVALID', mistakes.join('\n'));
}
