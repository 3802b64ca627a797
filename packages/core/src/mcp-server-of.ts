/** The server in a name of the form `mcp__<server>__<tool>`, both parts non-empty. */
export function mcpServerOf(name: string): string | undefined {
  return /^mcp__(.+?)__.+$/s.exec(name)?.[1];
}
