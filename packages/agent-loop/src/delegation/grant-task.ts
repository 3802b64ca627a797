import { oneLine } from '@ethosagent/policy';
import { CapabilityError, type DelegatedTask, errorCodeOf } from '@ethosagent/types';
import type { AgentTools } from '../api.js';
import type { DelegatingTurn } from './child-turn.js';
import { narrowTools } from './narrow-tools.js';

/** The personality and the tools of a sub-agent. */
export interface TaskGrant {
  personalityId: string;
  tools: AgentTools;
}

/**
 * Returns the personality and the tools of a sub-agent: the caller's own personality, or the meet
 * of that and another one, and the named ones of the caller's own tools.
 *
 * @throws `DELEGATION_REFUSED` if there is no such personality or tool
 */
export async function grantTask(
  turn: Pick<DelegatingTurn, 'personalityId' | 'ref' | 'tools'>,
  task: Pick<DelegatedTask, 'personality' | 'tools'>,
): Promise<TaskGrant> {
  const own = await turn.tools.definitions(turn.personalityId);
  const names = new Set(own.map(({ name }) => name));
  const foreign = task.tools?.find((name) => !names.has(name));
  if (foreign !== undefined) {
    throw refused(
      `${quote(foreign)} is not among your own tools; name some of ${[...names].join(', ') || 'none'}`,
      'not a tool of the caller',
    );
  }
  const personalityId = await meetOf(turn, task.personality);
  return { personalityId, tools: narrowTools(turn.tools, task.tools ?? [...names], turn.ref.id) };
}

async function meetOf(
  { personalityId, tools }: Pick<DelegatingTurn, 'personalityId' | 'tools'>,
  other: string | undefined,
): Promise<string> {
  if (other === undefined || personalityId.split('/').includes(other)) return personalityId;
  // With a slash, the model could name a meet of its own choice.
  if (!/^[^/\s]+$/.test(other))
    throw await noPersonality(tools, { own: personalityId, name: other });
  const asked = `${personalityId}/${other}`;
  try {
    const met = await tools.personality(asked);
    // A host that does not support meets must not run the other personality alone.
    if (met.id === asked) return asked;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'CONFIG_INVALID' && code !== 'DELEGATION_REFUSED') throw error;
    throw await noPersonality(tools, { own: personalityId, name: other, cause: error });
  }
  throw await noPersonality(tools, { own: personalityId, name: other });
}

async function noPersonality(
  tools: AgentTools,
  { own, name, cause }: { own: string; name: string; cause?: unknown },
): Promise<CapabilityError> {
  const others = await othersThan(own, tools);
  const choice = others === '' ? 'leave it out' : `name one of ${others}, or leave it out`;
  return refused(
    `there is no personality ${quote(name)} that a task can be given here; ${choice} to use your own`,
    'no such personality',
    { cause },
  );
}

const MAX_NAMED = 20;

/** The personalities that may be named, with their descriptions. */
async function othersThan(own: string, tools: AgentTools): Promise<string> {
  try {
    const all = (await tools.personalities?.()) ?? [];
    const others = all.filter(({ id }) => !own.split('/').includes(id));
    const named = others
      .slice(0, MAX_NAMED)
      .map(({ id, description }) => (description ? `${id} (${oneLine(description, 100)})` : id));
    const left = others.length - named.length;
    return `${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  } catch {
    // The refusal is still given, without the list.
    return '';
  }
}

function refused(detail: string, rule: string, options?: ErrorOptions): CapabilityError {
  return new CapabilityError('DELEGATION_REFUSED', detail, rule, options);
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
