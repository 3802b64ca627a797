import { assertOptions } from '@ethosagent/policy';
import { RUNTIME_OPTIONS } from './known-options.js';
import type { ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';

/**
 * Creates a runtime, for hosts that bring their own agent loop. It reads a personality from disk,
 * connects stores, network, processes and audit, and registers the tools. Its state is in the home,
 * except for the stores that the host passes.
 *
 * @param options the home, the personality, and the tools by name or as objects
 * @returns the runtime; call `close` at the end
 * @throws `CONFIG_INVALID` for an invalid file, with the file and the key, for a `cwd` that is not a
 * folder, or if the audit log can't be opened
 * @throws `TOOL_INVALID` for a malformed tool, `TOOL_NAME_TAKEN` for a second tool with the same
 * name
 * @throws `STORE_CORRUPT`, `STORE_NEWER` or `STORE_UNAVAILABLE` if a store can't be opened
 * @throws `REACH_WIDENED` if a tool may touch more than the lock says
 *
 * @example
 * ```ts
 * const runtime = await createToolRuntime({
 *   home: '/var/lib/agent/.ethos',
 *   personality: 'assistant',
 *   tools: ['read_file'],
 * });
 * const session = runtime.session('first');
 * ```
 */
export async function createToolRuntime(options: ToolRuntimeOptions): Promise<ToolRuntime> {
  assertOptions('createToolRuntime', options, RUNTIME_OPTIONS);
  // Copied before the engine is loaded, since the host may change them while it waits. What the
  // options inherit stays.
  const prototype: unknown = Object.getPrototypeOf(options);
  const copy: ToolRuntimeOptions = Object.assign(Object.create(Object(prototype)), options);
  const { cwd = process.cwd() } = copy;
  const { openToolRuntime } = await import('./open-tool-runtime.js');
  return openToolRuntime(copy, cwd);
}
