import { parse, sep } from 'node:path';
import { effectsOf, errorText } from '@ethosagent/policy';
import { failure } from '../../results/check-shape.js';
import type { CallState } from '../call-state.js';
import { guarded } from '../guarded.js';
import { type Answer, type Step, unfinished } from './step.js';

/**
 * Records what a program or a service of the call may change, before it begins. No accessor sees
 * those changes, and they may carry untrusted text.
 */
export const noteUnseenWrites: Step = (state) => {
  const { input, facts } = state.batch;
  const { host } = input;
  if (host?.watchSources === undefined || host.checksOnly !== undefined) return undefined;
  const { tool, plan } = state.entry;
  if (facts.dryRun === true || (plan.isSeen && tool.unconfined !== true)) return undefined;
  const effects = effectsOf(tool);
  if (!effects.includes('write') && !effects.includes('spawn')) return undefined;
  const places = unseenWritesOf(state);
  state.unseenWrites = places;
  return places.length === 0 ? undefined : note(state, places);
};

async function note(state: CallState, places: readonly string[]): Promise<Answer> {
  const ending = await guarded(state.batch.watch, Number.POSITIVE_INFINITY, () =>
    state.taintOf().beforeUnseenWrite(places),
  );
  if (ending.kind === 'returned') return undefined;
  if (ending.kind === 'stopped') return unfinished(state, ending);
  state.thrown = { error: ending.error };
  return failure(
    `the call did not run, since it could not be recorded what it may write: ${errorText(ending.error)}`,
    'STORE_UNAVAILABLE',
  );
}

/**
 * The places where a program or a service of the call may write: the roots of its sandbox, or
 * everywhere without one.
 */
export function unseenWritesOf(state: CallState): readonly string[] {
  const { entry, batch, policy } = state;
  const { process: programs, fs_reach, service } = entry.plan.describe(batch.facts, policy);
  const isFree =
    entry.tool.unconfined === true || (programs !== undefined && programs.sandbox !== 'required');
  if (isFree) return [parse(batch.facts.workingDir).root || sep];
  // What the call types into a background process is carried out with the reach of the tool that
  // started it, which may be another one.
  if (programs?.background === true) return policy.fsReach.write;
  return programs === undefined && service === undefined ? [] : (fs_reach?.write ?? []);
}
