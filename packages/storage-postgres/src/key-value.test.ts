import { keyValueConformance } from '@ethosagent/conformance';
import {
  type KeyValueProcesses,
  keyValueAttacks,
  startScript,
} from '@ethosagent/conformance/attacks';
import { bundleScript, newPostgresDatabase } from '@ethosagent/test-support';
import { keyValueBackend } from './fixtures/key-value-backend.js';

const counter = await bundleScript(new URL('./fixtures/count-up.ts', import.meta.url));
const writer = await bundleScript(new URL('./fixtures/acknowledge.ts', import.meta.url));
const url = await newPostgresDatabase();

keyValueConformance('createPostgresStores().keyValue', ({ clock }) => keyValueBackend(url, clock));

keyValueAttacks('createPostgresStores().keyValue', ({ clock }) => keyValueBackend(url, clock), {
  processes,
});

function processes(): KeyValueProcesses {
  return {
    open: () => keyValueBackend(url),
    startCounter: (id, turns) => startScript(counter, { args: [url, id, String(turns)] }),
    startWriter: (id) => startScript(writer, { args: [url, id] }),
  };
}
