export { type MoveReport, type MoveStoresOptions, moveStores } from './move/move-stores.js';
export type { MovedStore } from './move/run-move.js';
export { type StoresAtOptions, storesAt, verifyAuditAt } from './stores-at.js';
