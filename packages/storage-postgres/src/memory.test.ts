import { memoryConformance } from '@ethosagent/conformance';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import { createPostgresStores } from './postgres-stores.js';

const url = await newPostgresDatabase();

memoryConformance('createPostgresStores().memory', async ({ clock }) => {
  const { store, close } = await createPostgresStores({
    url,
    clock,
    ...PATIENT_POSTGRES,
  }).memory.open();
  return { memory: store, close };
});
