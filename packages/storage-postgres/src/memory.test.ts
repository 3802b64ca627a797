import { memoryConformance } from '@ethosagent/conformance';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { createPostgresStores } from './postgres-stores.js';

const url = await newPostgresDatabase();

memoryConformance('createPostgresStores().memory', async ({ clock }) => {
  const { store, close } = await createPostgresStores({ url, clock }).memory.open();
  return { memory: store, close };
});
