import { sessionConformance } from '@ethosagent/conformance';
import { newPostgresDatabase } from '@ethosagent/test-support';
import { createPostgresStores } from './postgres-stores.js';

const url = await newPostgresDatabase();

sessionConformance('createPostgresStores().sessions', async ({ clock }) => {
  const { store, close } = await createPostgresStores({ url, clock }).sessions.open();
  return { sessions: store, close };
});
