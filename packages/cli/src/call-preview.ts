import { randomUUID } from 'node:crypto';
import type { ApprovalRequest, BeforeCallHook, CallHooks } from '@ethosagent/core';
import { errorCodeOf } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { messageOf } from './cli-error.js';

/** The parts of a call that are shown before it is decided, whether it waits here or is stored. */
export type AskedCall = Pick<
  ApprovalRequest,
  'toolName' | 'args' | 'reason' | 'capabilities' | 'personalityId' | 'problem'
>;

/** What a dry run may touch, which changes no file: it may only read files. */
const FILES_ALONE = { hosts: [], secrets: [], binaries: [] };

/** Capabilities that a dry run may use, since `FILES_ALONE` and the dry run limit them to reading. */
const HELD: ReadonlySet<string> = new Set(['fs_reach', 'quotas']);

/**
 * Shows what calls would change before they are approved, by a dry run of the tool itself, so that
 * the diff is the tool's own. The dry run happens before the approval. So it may only read,
 * whatever the tool does with `dryRun`.
 */
export class CallPreviews {
  readonly #running = new Set<string>();
  readonly #narrow: BeforeCallHook = ({ toolCallId }) =>
    this.#running.has(toolCallId) ? { narrow: FILES_ALONE } : undefined;

  /** The hooks that the runtime needs for this, together with the operator's own. */
  hooks({ beforeCall = [] }: Pick<CallHooks, 'beforeCall'>): Pick<CallHooks, 'beforeCall'> {
    return { beforeCall: [...[beforeCall].flat(), this.#narrow] };
  }

  /**
   * Returns what a call would change, according to its tool; `undefined` if the tool has no dry
   * run, or reaches more than files.
   *
   * @param runtime a runtime with the result of `hooks`
   */
  async of(
    { toolName, args, capabilities, personalityId }: AskedCall,
    runtime: Pick<ToolRuntime, 'execute' | 'tool' | 'endSession'>,
  ): Promise<string | undefined> {
    const tool = runtime.tool(toolName);
    if (tool?.supportsDryRun !== true || tool.unconfined === true) return undefined;
    const reached = Object.entries(capabilities).filter(([, grant]) => grant !== undefined);
    if (!reached.every(([name]) => HELD.has(name))) return undefined;
    const toolCallId = `preview-${randomUUID()}`;
    this.#running.add(toolCallId);
    try {
      const [answer] = await runtime.execute([{ toolCallId, name: toolName, args }], {
        // A session of its own, so that what the tool stores is not kept for the real session.
        sessionId: toolCallId,
        dryRun: true,
        protections: 'none',
        ...(personalityId !== undefined && { personality: personalityId }),
      });
      if (answer === undefined) return undefined;
      const { result } = answer;
      return result.ok ? result.value : `The dry run gives no change: ${result.error}`;
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      return `What it would change can not be told: ${messageOf(error)}`;
    } finally {
      this.#running.delete(toolCallId);
      await runtime.endSession(toolCallId);
    }
  }
}
