import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { showHidden } from '@ethosagent/policy';
import { EthosError, type Tool } from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { noBackground, noTerminal, processId, stateOf } from './background.js';
import { KEY_NAME, keyText } from './keys.js';
import { judgeCall, policyDenial } from './policy-answer.js';
import { screenResult } from './screen-result.js';
import { isInTerminal, SHELL } from './shell.js';
import { SETTINGS_KEY, type TerminalOptions, terminalSettings } from './terminal-settings.js';

const MAX_WAIT_MS = 60_000;

const input = z.strictObject({
  id: processId,
  text: z
    .string()
    .max(10_000)
    // What a terminal takes for keys has names.
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be of one line, without controls; name keys in keys')
    .default('')
    .describe('The characters to type.'),
  keys: z
    .array(z.string().regex(KEY_NAME, 'is no key that has a name here'))
    .max(50)
    .default([])
    .describe('Keys to press after the text: Enter, Tab, Escape, Up, Ctrl-C and so on.'),
  wait_ms: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .default(1_000)
    .describe('Milliseconds to wait for the program to answer.'),
});

type Keys = Pick<z.output<typeof input>, 'text' | 'keys'>;

/**
 * Creates `terminal_send_keys`, which types into a program that runs in a terminal. Only the
 * program knows what the text means, so each call needs approval, whatever the policy says. Text
 * that the policy would deny as a command is refused, even when it was approved. Needs `process`
 * with bash and `background`.
 *
 * Keys are `Enter`, `Tab`, `Escape`, `Space`, `Backspace`, `Delete`, `Up`, `Down`, `Left`, `Right`,
 * `Home`, `End`, `PageUp`, `PageDown` and `Ctrl-A` to `Ctrl-Z`.
 *
 * @param options the command policy of personalities that set none
 * @returns the tool, ready to register
 */
export function createTerminalSendKeysTool(
  options: TerminalOptions = {},
): Tool<z.output<typeof input>> {
  return defineTool({
    name: 'terminal_send_keys',
    description:
      'Type into a command that terminal_start runs with pty, and see its screen. Every call needs approval, because text for a shell or an interpreter is a command.',
    toolset: 'terminal',
    input,
    settings: terminalSettings('createTerminalSendKeysTool', options),
    settingsKey: SETTINGS_KEY,
    capabilities: { process: { allowedBinaries: [SHELL], background: true } },
    outputIsUntrusted: true,
    // The program writes where the tool that started it may.
    effects: ['write', 'spawn'],
    supportsDryRun: true,
    timeoutMs: MAX_WAIT_MS + 30_000,
    // Only the program knows what its input means, so no rule can let it through.
    requiresApproval: (args) => `types into ${args.id}: ${shown(args)}`,
    execute: (args, ctx) =>
      withAccessFailures(async () => {
        const { settings, workingDir } = ctx;
        if (!settings.policy.shell) return noTerminal();
        const verdict = judgeCall({ command: args.text }, settings.policy, workingDir);
        const denial = args.text.trim() === '' ? undefined : policyDenial(verdict);
        if (denial !== undefined) return denial;
        const { background } = ctx.scopedProcess;
        if (background === undefined) return noBackground();
        if (ctx.dryRun === true) {
          const { process } = await background.read(args.id, { maxChars: 0 });
          if (process.state === 'ended' || !isInTerminal(process.args)) {
            throw new EthosError('PROCESS_ENDED', `${stateOf(process)}, and takes no keys`);
          }
          return ok(`[dry-run] ${shown(args)} would be typed into ${args.id}; it needs approval.`, {
            structured: { dryRun: true, id: args.id },
            untrusted: false,
          });
        }
        const { cursor } = await newest(background, args.id);
        await background.write(args.id, args.text + args.keys.map(keyText).join(''));
        await background.read(args.id, { cursor, waitMs: args.wait_ms });
        return screenResult(background, args.id, ctx.abortSignal);
      }),
  });
}

/** Returns the cursor after all output so far. */
async function newest(
  background: { read: (id: string, opts: { cursor: number }) => Promise<{ cursor: number }> },
  id: string,
): Promise<{ cursor: number }> {
  return background.read(id, { cursor: Number.MAX_SAFE_INTEGER });
}

function shown({ text, keys }: Keys): string {
  const parts = [text === '' ? '' : JSON.stringify(text), ...keys];
  return showHidden(parts.filter((part) => part !== '').join(' ')) || 'nothing';
}
