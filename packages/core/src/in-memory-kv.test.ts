import { keyValueConformance } from '@ethosagent/conformance';
import { keyValueAttacks } from '@ethosagent/conformance/attacks';
import { describe, expect, it } from 'vitest';
import { createInMemoryKvStore } from './in-memory-kv.js';

keyValueConformance('createInMemoryKvStore', createInMemoryKvStore);
keyValueAttacks('createInMemoryKvStore', createInMemoryKvStore);

describe('createInMemoryKvStore', () => {
  it('two stores share nothing', async () => {
    const [one, two] = [createInMemoryKvStore(), createInMemoryKvStore()];
    await one.kvStoreFactory('tool', 'scope').set('k', 'v');
    expect(await two.kvStoreFactory('tool', 'scope').get('k')).toBeNull();
  });
});
