import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, type TestPostgres } from './start-postgres.js';

/**
 * The variable with the socket at which test files ask for a database of the run's single server.
 */
const ASK_AT = 'ETHOS_TEST_POSTGRES';

/**
 * Answers test files that ask for a database. The server is started when the first one asks, so a run
 * without such files pays nothing.
 *
 * @returns what ends the server
 */
export async function serveDatabases(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-ask-'));
  const path = join(folder, 'socket');
  let started: Promise<TestPostgres> | undefined;
  const answers = createServer((socket) => {
    started ??= startPostgres();
    started.then(
      (server) => socket.end(`${server.createDatabase()}\n`),
      (error) => socket.end(`failed: ${error}\n`),
    );
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => answers.listen(path, resolve));
  // biome-ignore lint/style/noProcessEnv: the workers of the run get it with their environment
  process.env[ASK_AT] = path;
  return async () => {
    answers.close();
    await (await started?.catch(() => undefined))?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The URL of a new, empty database on the server of this run. */
export async function newPostgresDatabase(): Promise<string> {
  // biome-ignore lint/style/noProcessEnv: set by the main process of the run
  const path = process.env[ASK_AT];
  if (path === undefined) throw new Error('run the tests with vitest.workspace.ts');
  const chunks: Buffer[] = [];
  for await (const chunk of createConnection(path)) chunks.push(chunk);
  const answer = Buffer.concat(chunks).toString().trim();
  if (!answer.startsWith('postgresql:')) throw new Error(`no database: ${answer}`);
  return answer;
}
