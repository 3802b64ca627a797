export type { ResolvedGrant } from '../resolved-grant.js';
export { compareGrants } from './compare-grants.js';
export type { GainedAccess, GrantChange } from './grant-change.js';
