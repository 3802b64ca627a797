import { usageError } from './cli-error.js';
import { type CommandInput, textOption } from './command-spec.js';

/** @throws `CONFIG_INVALID` */
export function portOption(options: CommandInput['options']): number | undefined {
  const text = textOption(options, 'port');
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw usageError(`--port: ${text} is not a port between 1 and 65535`);
}

/** Returns the error of a server that could not listen, with what to do about its port. */
export function portError(error: unknown, port: number | undefined): unknown {
  const { code, cause } = Object(error);
  const codes: unknown[] = [code, Object(cause).code];
  const next = 'name another with --port';
  if (codes.includes('EADDRINUSE'))
    return usageError(`the port ${port} is taken by another program; ${next}`);
  if (codes.includes('EACCES'))
    return usageError(`this user may not listen on the port ${port}; ${next}`);
  return error;
}
