import { turnConformance } from '@ethosagent/conformance';
import { newPostgresDatabase } from '@ethosagent/test-support';
import pg from 'pg';
import { afterAll } from 'vitest';
import { createPostgresTurns } from './turns/postgres-turns.js';

const url = await newPostgresDatabase();
let now = () => 0;
const { store, close } = await createPostgresTurns({ url, clock: () => now() }).open();
const client = new pg.Client(url);
await client.connect();
afterAll(() => Promise.all([close(), client.end()]));

turnConformance('createPostgresTurns', async ({ clock }) => {
  now = clock;
  await client.query(`
    TRUNCATE ethos.turn, ethos.turn_event, ethos.turn_tenant, ethos.turn_rate, ethos.turn_schedule;
    UPDATE ethos.turn_clock SET served = 0`);
  return { turns: store };
});
