import { keyValueConformance } from '@ethosagent/conformance';
import {
  type KeyValueProcesses,
  keyValueAttacks,
  startScript,
} from '@ethosagent/conformance/attacks';
import {
  ALIKE_TEXTS,
  bundleScript,
  isLongRun,
  newPostgresDatabase,
} from '@ethosagent/test-support';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyValueBackend } from './fixtures/key-value-backend.js';

const counter = await bundleScript(new URL('./fixtures/count-up.ts', import.meta.url));
const writer = await bundleScript(new URL('./fixtures/acknowledge.ts', import.meta.url));
const url = await newPostgresDatabase();

keyValueConformance('createPostgresStores().keyValue', ({ clock }) => keyValueBackend(url, clock));

if (isLongRun()) {
  keyValueAttacks('createPostgresStores().keyValue', ({ clock }) => keyValueBackend(url, clock), {
    processes,
  });
}

describe('createPostgresStores().keyValue', () => {
  // The attacks of the long run have more of these, in every pair.
  it('keeps scope ids and keys apart that look alike', async () => {
    const { kvStoreFactory, close } = await keyValueBackend(url);
    onTestFinished(async () => close?.());
    const stores = ALIKE_TEXTS.map((id) => kvStoreFactory('test', `alike ${id}`));
    await Promise.all(
      stores.flatMap((kv, at) => ALIKE_TEXTS.map((key) => kv.set(key, `${at} ${key}`))),
    );
    for (const [at, kv] of stores.entries()) {
      const values = await Promise.all(ALIKE_TEXTS.map((key) => kv.get(key)));
      expect(values).toEqual(ALIKE_TEXTS.map((key) => `${at} ${key}`));
      const prefix = ALIKE_TEXTS[at] ?? '';
      const found = ALIKE_TEXTS.filter((key) => key.startsWith(prefix));
      expect((await kv.list(prefix)).sort()).toEqual(found.sort());
    }
  });
});

function processes(): KeyValueProcesses {
  return {
    open: () => keyValueBackend(url),
    startCounter: (id, turns) => startScript(counter, { args: [url, id, String(turns)] }),
    startWriter: (id) => startScript(writer, { args: [url, id] }),
  };
}
