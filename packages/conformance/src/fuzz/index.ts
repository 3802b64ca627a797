export type { FuzzOptions } from '../fuzz.js';
export { fuzz } from '../fuzz.js';
export type { GrowthOptions } from '../growth.js';
export { growsLinearly } from '../growth.js';
export type { Promised } from '../promised.js';
