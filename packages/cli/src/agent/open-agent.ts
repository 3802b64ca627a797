import type { SessionInfo } from '@ethosagent/types';
import type { Agent } from '@ethosagent/wiring/agent';
import { askAtTerminal } from '../ask-at-terminal.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { ownerOf } from '../owner-of.js';
import { loadModel } from './load-model.js';
import { createScriptedModel } from './scripted-model.js';

/**
 * An agent over the runtime of the home. It asks at the terminal. Without a terminal, calls that
 * need approval wait.
 *
 * @param session a stored one, whose turn the agent goes on with or ends: under its personality if
 * none is named, and for its owner
 * @throws `CONFIG_INVALID` and as `createAgent`
 */
export async function openAgent(
  context: CommandContext,
  options: CommandInput['options'],
  session?: SessionInfo,
): Promise<Agent> {
  const { io } = context;
  const [{ createAgent }, { installedTools }] = await Promise.all([
    import('@ethosagent/wiring/agent'),
    import('@ethosagent/wiring'),
  ]);
  const config = await context.config();
  const name = modelName(context, options);
  const { limits, ...rest } = config;
  const agent: Agent = await createAgent({
    tools: installedTools(),
    ...rest,
    ...(limits !== undefined && { toolLimits: limits }),
    home: context.home,
    cwd: io.cwd,
    personality:
      context.namedPersonality ?? session?.personalityId ?? (await context.personalityId()),
    ...(session !== undefined && {
      identity: { ...ownerOf(session), memoryScopeId: session.scopeId },
    }),
    model: name === undefined ? createScriptedModel() : await loadModel(name, io.cwd),
    ...context.previews.hooks(config),
    ...(io.ask !== undefined && { approve: askAtTerminal(context, () => agent.runtime) }),
  });
  context.closeLater(agent);
  return agent;
}

/** The model that the command is to use; `undefined` if none is named. */
export function modelName(
  { io }: CommandContext,
  options: CommandInput['options'],
): string | undefined {
  return (textOption(options, 'model') ?? io.env.ETHOS_MODEL) || undefined;
}
