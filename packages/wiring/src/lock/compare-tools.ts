import { isDeepStrictEqual } from 'node:util';
import { compareGrants } from '@ethosagent/core/compare';
import type { LockChange } from './lock-change.js';
import type { LockedTool } from './reach-lock.js';

const APPROVALS = ['never', 'by-call', 'always'] as const satisfies LockedTool['approval'][];

/** Compares two versions of one tool. */
export function compareTool(before: LockedTool, after: LockedTool): LockChange[] {
  const { tool } = after;
  const said = (kind: LockChange['kind'], message: string, policy?: string): LockChange => ({
    kind,
    tool,
    message,
    ...(policy !== undefined && { policy }),
  });
  const found: LockChange[] = compareGrants(before.grant, after.grant).map(
    ({ kind, what, capability: _, ...where }) => ({
      kind,
      tool,
      message: `${kind === 'widened' ? 'gains' : 'loses'} ${what}`,
      ...where,
    }),
  );
  if (before.tool !== tool) found.push(...renamed(before, after));
  if (before.unconfined !== after.unconfined) {
    found.push(
      after.unconfined
        ? said('widened', 'is unconfined now: nothing bounds or audits what it does')
        : said('narrowed', 'is not unconfined any more'),
    );
  }
  const strictness = APPROVALS.indexOf(after.approval) - APPROVALS.indexOf(before.approval);
  if (strictness !== 0) {
    const kind = strictness < 0 ? 'widened' : 'narrowed';
    found.push(said(kind, `needs approval: ${after.approval}, ${before.approval} before`));
  }
  if (before.untrusted !== after.untrusted) {
    found.push(
      after.untrusted
        ? said('narrowed', 'gives results that count as untrusted now')
        : said('widened', 'gives results that do not count as untrusted any more'),
    );
  }
  // After untrusted content was read, a person is asked about every tool with an effect. So an
  // effect that is no longer declared widens what runs without a question.
  for (const effect of before.effects.filter((each) => !after.effects.includes(each))) {
    found.push(
      said('widened', `does not count as a tool that may ${effect} any more, so nobody is asked`),
    );
  }
  for (const effect of after.effects.filter((each) => !before.effects.includes(each))) {
    found.push(said('narrowed', `counts as a tool that may ${effect} now`));
  }
  if (before.settings !== after.settings) {
    // Only the tool knows whether its new settings allow more.
    found.push(said('widened', 'has other settings', `tool_settings.${tool}`));
  }
  if (found.length === 0 && !isDeepStrictEqual(before, after)) {
    found.push(said('text', 'is declared otherwise, with the same reach'));
  }
  return found;
}

/** Returns the change for a new tool. */
export function newTool(after: LockedTool): LockChange {
  const { tool, grant, unconfined, approval } = after;
  const reach = compareGrants({}, grant)
    .filter(({ kind }) => kind === 'widened')
    .map(({ what }) => what);
  const said = [
    ...(unconfined ? ['nothing bounds it'] : []),
    ...(reach.length === 0 && !unconfined ? ['it reaches nothing'] : reach),
  ].join('; ');
  return {
    kind: 'widened',
    tool,
    message: `is new (approval: ${approval}): ${said}`,
    policy: 'toolset',
    entry: tool,
  };
}

function renamed(before: LockedTool, after: LockedTool): LockChange[] {
  const { tool, grant } = after;
  const told: LockChange = { kind: 'text', tool, message: `was named ${before.tool}` };
  if (grant.storage?.scope !== 'tool-private' || before.grant.storage?.scope !== 'tool-private') {
    return [told];
  }
  const entry = 'tool-private';
  const declared = 'storage.scope';
  return [
    told,
    { kind: 'widened', tool, message: 'gains the store of its new name', entry, declared },
    { kind: 'narrowed', tool, message: 'loses the store of its old name', entry, declared },
  ];
}
