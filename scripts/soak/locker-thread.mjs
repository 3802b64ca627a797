// Holds the write lock of a database now and then, until it is told to stop.
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

const { path, shared, seed } = workerData;
let state = seed >>> 0;
const between = (low, high) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return low + Math.floor((state / 2 ** 32) * (high - low));
};
const sleep = (ms) => Atomics.wait(shared, 0, 0, ms);

const database = new Database(path, { timeout: 200 });
while (Atomics.load(shared, 0) === 0) {
  sleep(between(50, 800));
  try {
    database.exec('BEGIN IMMEDIATE');
    sleep(between(5, 250));
    database.exec('ROLLBACK');
  } catch {
    // Another one has the lock.
  }
}
database.close();
