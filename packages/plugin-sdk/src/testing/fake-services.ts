import { PassThrough } from 'node:stream';
import {
  EthosError,
  type ProcessConnection,
  type ProcessResult,
  type ServiceProcesses,
  type ServiceScope,
} from '@ethosagent/types';
import type { FakeStarts } from './fake-process.js';

/** A proxy that nothing listens on, since the test has no network. */
const NO_PROXY = {
  server: 'http://127.0.0.1:9',
  username: 'test',
  password: 'test',
  mark: 'test',
} as const;

/** Returns a service that starts no process and opens no port, and is otherwise the given one. */
export function withFakeProcesses(
  service: ServiceScope,
  starts: FakeStarts | undefined,
): ServiceScope {
  const { scopedProcess: _, proxy, ...accessors } = service;
  return {
    ...accessors,
    ...(proxy !== undefined && { proxy: async () => ({ ...NO_PROXY }) }),
    ...(starts !== undefined && { scopedProcess: serviceProcesses(service.signal, starts) }),
    isCurrent: (ctx) => service.isCurrent(ctx),
    redact: (text) => service.redact(text),
    onEnd: (close) => service.onEnd(close),
    end: () => service.end(),
  };
}

function serviceProcesses(signal: AbortSignal, { record, begin }: FakeStarts): ServiceProcesses {
  const recorded = <T>(operation: string, target: string, run: () => T) =>
    record(operation, target, () => {
      signal.throwIfAborted();
      return run();
    });
  return {
    async spawn(binary, args, opts = {}) {
      return recorded('spawn', binary, () => begin(binary, args, opts))(opts);
    },
    async open(binary, args, opts = {}) {
      const answer = recorded('open', binary, () => begin(binary, args, opts));
      const input = new PassThrough({ encoding: 'utf8' });
      return connection(binary, { input, signal, answered: answer(opts, input) });
    },
    async prepare(binary, args, { cwd, env = {} } = {}) {
      recorded('prepare', binary, () => begin(binary, args, {}));
      const file = binary.startsWith('/') ? binary : `/usr/bin/${binary}`;
      return { file, args: [...args], env: { ...env }, ...(cwd !== undefined && { cwd }) };
    },
  };
}

function connection(
  binary: string,
  {
    input,
    signal,
    answered,
  }: { input: PassThrough; signal: AbortSignal; answered: Promise<ProcessResult> },
): ProcessConnection {
  let stop = () => {};
  const result = new Promise<ProcessResult>((resolve, reject) => {
    stop = () => resolve({ exitCode: 143, signal: 'SIGTERM', stdout: '', stderr: '' });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answered.then(({ truncated: _, ...ended }) => {
      resolve({ ...ended, stdout: '', stderr: '' });
    }, reject);
  });
  const ended = result.then(
    () => {},
    () => {},
  );
  ended.then(() => input.destroy());
  return {
    result,
    async write(data) {
      if (input.destroyed || input.writableEnded) {
        throw new EthosError('PROCESS_ENDED', `${binary} takes no more input; start it again`);
      }
      input.write(data);
    },
    end: () => void input.end(),
    async stop() {
      stop();
      await ended;
    },
  };
}
