// Takes a lock and gives it back, again and again. Fails where it finds another process inside;
// says on standard output how often it had the lock.
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { errorCodeOf } from '@ethosagent/types';
import { lockLog } from '../audit/log-lock.js';

const [log = '', rounds = ''] = process.argv.slice(2);
const marker = `${log}.inside`;
let taken = 0;
for (let round = 0; round < Number(rounds); round++) {
  let release: () => void;
  try {
    release = lockLog(log);
  } catch (error) {
    if (errorCodeOf(error) !== 'STORE_UNAVAILABLE') throw error;
    continue;
  }
  taken += 1;
  closeSync(openSync(marker, 'wx'));
  unlinkSync(marker);
  release();
}
writeSync(1, `${taken}\n`);
