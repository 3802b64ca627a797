import { errorCodeOf } from '@ethosagent/types';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { homeSecrets } from '../home-secrets.js';
import { safeText } from '../output.js';
import { portError, portOption } from '../port-option.js';

const TOKEN = 'mcp-server/token';
const HTTP_ONLY = ['port', 'tokenSecret'];

/** Serves the tools of a personality until its client is gone or the signal fires. */
export async function run({ context, options }: CommandInput): Promise<number> {
  if (!hasOption(options, 'mcp')) throw usageError('say what to serve: --mcp');
  if (hasOption(options, 'http')) {
    if (options.session !== undefined) throw usageError('--session: each client has its own');
    await serveOverHttp(context, options);
    return EXIT.ok;
  }
  const strange = HTTP_ONLY.find((name) => options[name] !== undefined);
  if (strange !== undefined)
    throw usageError(`--${strange === 'port' ? strange : 'token-secret'} needs --http`);
  await serveOverStdio(context, textOption(options, 'session'));
  return EXIT.ok;
}

async function serveOverStdio(context: CommandContext, sessionId: string | undefined) {
  // ethos.config or a tool may print something while it is loaded. On standard output, that would
  // break the protocol.
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr);
  try {
    const { serveStdio } = await loadServer();
    const runtime = await context.openRuntime();
    stdout.write = write;
    const server = await serveStdio(runtime, {
      personality: runtime.personalityId,
      ...(sessionId !== undefined && { sessionId }),
    });
    const { signal } = context.io;
    const close = () => void server.close();
    signal?.addEventListener('abort', close, { once: true });
    if (signal?.aborted === true) close();
    try {
      await server.closed;
    } finally {
      signal?.removeEventListener('abort', close);
    }
  } finally {
    stdout.write = write;
  }
}

async function serveOverHttp(context: CommandContext, options: CommandInput['options']) {
  const { io, out } = context;
  const port = portOption(options);
  const token = await readToken(context, textOption(options, 'tokenSecret') ?? TOKEN);
  const { serveHttp } = await loadServer();
  const runtime = await context.openRuntime();
  const server = await serveHttp(runtime, {
    clients: { http: { token, personality: runtime.personalityId } },
    ...(port !== undefined && { port }),
  }).catch((error: unknown) => {
    throw portError(error, port);
  });
  context.closeLater(server);
  if (out.isJson) out.jsonLine({ url: server.url, personality: runtime.personalityId });
  else out.note(`${runtime.personalityId} is served at ${server.url} until Ctrl-C`);
  await new Promise<void>((resolve) => {
    if (io.signal?.aborted === true) resolve();
    else io.signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Reads the token from the secrets. An argument is visible to other users of the machine and is
 * kept by shells.
 */
async function readToken(context: CommandContext, ref: string): Promise<string> {
  const { secrets } = await context.config();
  try {
    return await (secrets?.(ref) ?? (await homeSecrets(context)).get(ref));
  } catch (error) {
    if (errorCodeOf(error) !== 'SECRET_NOT_FOUND') throw error;
    throw usageError(
      `there is no secret ${safeText(ref)} with the token; store one: openssl rand -hex 32 | ethosagent secrets set ${safeText(ref)}`,
    );
  }
}

async function loadServer() {
  return import('@ethosagent/mcp-server').catch((error: unknown) => {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw usageError('run "npm install @ethosagent/mcp-server" in the project first');
  });
}
