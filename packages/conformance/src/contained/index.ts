export type { ContainmentReport } from './assert-contained.js';
export { assertContained } from './assert-contained.js';
export type { Reached } from './containment-error.js';
export { ContainmentError } from './containment-error.js';
export type { ContainedWorld, ContainmentOptions, ScenarioName } from './options.js';
