export { deriveLeastPrivilege } from './derive-least-privilege.js';
export type {
  KeptList,
  LeastDeclaration,
  LeastEntry,
  LeastPrivilege,
  LeastPrivilegeOptions,
  NotGranted,
  RecordedTool,
} from './least-privilege.js';
export { type MergeOptions, mergeIntoPersonality } from './merge-least-privilege.js';
