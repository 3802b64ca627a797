import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A worker in a process of its own. */
export interface WorkerProcess {
  /** Ends it, and gives the milliseconds that its steps took. */
  stop(): Promise<number[]>;
  kill(): Promise<void>;
}

export async function startWorker(place: {
  postgres: string;
  redis: string;
  leaseMs: number;
}): Promise<WorkerProcess> {
  const script = fileURLToPath(new URL('./worker.ts', import.meta.url));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), script, JSON.stringify(place)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (child.stdout === null) throw new Error('the worker has no output');
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await once(lines, 'line');
  const end = async (signal: NodeJS.Signals) => {
    const over = once(child, 'close');
    child.kill(signal);
    await over;
  };
  return {
    async stop() {
      await end('SIGTERM');
      return JSON.parse(said.at(-1) ?? '[]');
    },
    kill: () => end('SIGKILL'),
  };
}
