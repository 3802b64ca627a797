import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Writes a line to the standard output. What was written when this resolves is not lost when the process is
 * killed. While the pipe is full, since its reader is slow, it is tried again: Node's pipes don't wait.
 */
export async function writeLine(line: string): Promise<void> {
  const bytes = Buffer.from(`${line}\n`);
  for (;;) {
    try {
      // A pipe takes a short line as a whole, or nothing.
      writeSync(1, bytes);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      await delay(1);
    }
  }
}
