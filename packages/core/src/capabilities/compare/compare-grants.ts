import type { ResolvedGrant } from '../resolved-grant.js';
import { compareAttachments } from './compare-attachments.js';
import { compareFiles } from './compare-files.js';
import {
  compareDelegation,
  compareMemory,
  compareService,
  compareSessions,
  compareStorage,
} from './compare-kept.js';
import { compareNetwork } from './compare-network.js';
import { compareProcesses } from './compare-processes.js';
import { compareQuotas } from './compare-quotas.js';
import { compareSecrets } from './compare-secrets.js';
import type { CompareCapability, GrantChange } from './grant-change.js';

/** How each part of a grant is compared. One without a comparison does not compile. */
const COMPARISONS: {
  readonly [K in keyof Required<ResolvedGrant>]: readonly [K, CompareCapability];
} = {
  network: ['network', compareNetwork],
  secrets: ['secrets', compareSecrets],
  storage: ['storage', compareStorage],
  fs_reach: ['fs_reach', compareFiles],
  process: ['process', compareProcesses],
  attachments: ['attachments', compareAttachments],
  memory: ['memory', compareMemory],
  sessions: ['sessions', compareSessions],
  service: ['service', compareService],
  delegation: ['delegation', compareDelegation],
  quotas: ['quotas', compareQuotas],
};

/**
 * What differs between two grants of one tool, by its effect: an access that was denied and may be
 * allowed now is `widened`, whatever the two look like, and so is what can't be proved to be within
 * what was. Nothing for grants that allow the same.
 */
export function compareGrants(before: ResolvedGrant, after: ResolvedGrant): GrantChange[] {
  return Object.values(COMPARISONS).flatMap(([capability, compare]) => [
    ...compare(before, after).map((gained) => ({
      kind: 'widened' as const,
      capability,
      ...gained,
    })),
    ...compare(after, before).map((lost) => ({ kind: 'narrowed' as const, capability, ...lost })),
  ]);
}
