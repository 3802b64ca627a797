import type { DelegatedTask } from '@ethosagent/types';
import type { TaskInput } from './task-input.js';

export function toTask({ prompt, personality, tools, max_steps }: TaskInput): DelegatedTask {
  return {
    prompt,
    ...(personality !== undefined && { personality }),
    ...(tools !== undefined && { tools }),
    ...(max_steps !== undefined && { maxSteps: max_steps }),
  };
}

/** Describes what a dry run would start. */
export function describeTask({ prompt, personality, tools, max_steps }: TaskInput): string {
  const facts = [
    ...(personality === undefined ? [] : [`as ${personality}`]),
    ...(tools === undefined ? [] : [`with ${tools.length === 0 ? 'no tools' : tools.join(', ')}`]),
    ...(max_steps === undefined ? [] : [`in at most ${max_steps} steps`]),
  ];
  return `A sub-agent would be given a task of ${prompt.length} characters${facts.length === 0 ? '' : ` (${facts.join('; ')})`}. Whether there is room for it, and whether it can have that, shows when it is given.`;
}
