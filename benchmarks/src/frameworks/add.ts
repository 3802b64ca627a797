import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { type ScriptedStep, scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { z } from 'zod';

/** The same tool, in our form and in that of each framework. */
export const name = 'add';
export const description = 'Adds.';
export const input = z.object({ a: z.number(), b: z.number() });
export const args = { a: 1, b: 1 };
export const add = ({ a, b }: z.infer<typeof input>) => `${a + b}`;

export const gated = defineTool({
  name,
  description,
  input,
  capabilities: {},
  effects: [],
  execute: async (given) => ok(add(given)),
});

let ids = 0;
export const newId = () => `c${++ids}`;

/** A run of an agent: steps of one call each, and an answer. */
export const STEPS = 20;
export const script = (): ScriptedStep[] => [
  ...Array.from({ length: STEPS }, (): ScriptedStep => [[name, args, newId()]]),
  'Done.',
];
/** For the frameworks that take a model of the AI SDK. */
export const model = () => scriptedModel(script());

export function assertDone(said: unknown): void {
  if (said !== 'Done.') throw new Error(`it ended with ${JSON.stringify(said)}`);
}

/** Runs of `STEPS` calls: through a tool of the framework itself, and through the adapter. */
export interface FrameworkRuns {
  own(): Promise<unknown>;
  ours(): Promise<unknown>;
  close?(): Promise<unknown>;
}
