export type { RedisStores, RedisStoresOptions } from './redis-stores.js';
export { createRedisStores } from './redis-stores.js';
