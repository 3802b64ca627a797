import { randomUUID } from 'node:crypto';
import type { ApprovalRequest, BeforeCallHook, CallHooks } from '@ethosagent/core';
import { errorCodeOf } from '@ethosagent/types';
import type { ToolRuntime } from '@ethosagent/wiring';
import { messageOf } from './cli-error.js';

/** What is known of a call that is asked about, whether it waits or is stored. */
export type AskedCall = Pick<
  ApprovalRequest,
  'toolName' | 'args' | 'reason' | 'capabilities' | 'personalityId' | 'problem'
>;

/** What a dry run may touch: it reads files. */
const READ_ALONE = { write: [], hosts: [], secrets: [], binaries: [] };

/** Capabilities that a dry run is held to reading of, by `READ_ALONE`. */
const HELD: ReadonlySet<string> = new Set(['fs_reach', 'quotas']);

/**
 * Says what calls would change, before anybody says yes to them: by a dry run of the tool itself, so
 * that the diff is the tool's own. It runs before the yes, so it is left nothing but reading,
 * whatever the tool makes of `dryRun`.
 */
export class CallPreviews {
  readonly #running = new Set<string>();
  readonly #narrow: BeforeCallHook = ({ toolCallId }) =>
    this.#running.has(toolCallId) ? { narrow: READ_ALONE } : undefined;

  /** What the options of the runtime need beside the operator's own hooks. */
  hooks({ beforeCall = [] }: Pick<CallHooks, 'beforeCall'>): Pick<CallHooks, 'beforeCall'> {
    return { beforeCall: [...[beforeCall].flat(), this.#narrow] };
  }

  /**
   * What a call would change, as its tool tells it; `undefined` where the tool does not say without
   * doing it, or reaches more than files.
   *
   * @param runtime made with `hooks`
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
        // What the tool keeps of it is not kept for the session.
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
