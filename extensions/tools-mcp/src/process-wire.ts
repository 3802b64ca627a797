import { EthosError, type ServiceScope } from '@ethosagent/types';
import { readMethods } from './client.js';
import type { McpProcessServer } from './config.js';
import { LAST_WORDS } from './connection-failure.js';
import { ProcessTransport } from './process-transport.js';
import { RedactedTransport } from './redacted-transport.js';
import type { Variables } from './resolve-variables.js';
import { sandboxRefusals } from './sandbox-refusals.js';
import type { ConnectOptions, Wire } from './server-session.js';
import { secretsOf } from './templates.js';
import { unaskedChars } from './token-bucket.js';

/** What is needed to reach a server. */
export interface WireOptions<Server> {
  server: Server;
  scope: ServiceScope;
  variables: Variables;
}

/**
 * Returns how to start a server that is a program, and how to talk to it over its standard streams.
 */
export async function processWire(
  { server, scope, variables }: WireOptions<McpProcessServer>,
  options: ConnectOptions,
): Promise<() => Wire> {
  const [command, args, env] = [
    await variables.text(server.command),
    await Promise.all(server.args.map((arg) => variables.text(arg))),
    await variables.texts(server.env),
  ];
  const cwd = server.cwd === undefined ? undefined : await variables.text(server.cwd);
  const secret = secretsOf([...server.args, ...server.env.values()]).length > 0;
  return () => {
    const unasked = unaskedChars();
    const transport = new ProcessTransport(
      (onOutput) => {
        const { scopedProcess } = scope;
        if (scopedProcess === undefined) {
          throw new EthosError('SPAWN_FAILED', 'the host runs no processes');
        }
        return scopedProcess.open(command, args, {
          env: Object.fromEntries(env),
          onOutput,
          ...(cwd === undefined ? {} : { cwd }),
        });
      },
      { ...options.limits, unasked },
    );
    return {
      transport: new RedactedTransport(transport, {
        redact: secret ? (text) => scope.redact(text) : undefined,
        reads: readMethods(options),
        unasked,
      }),
      why: () => {
        const said = lastWords(scope.redact(transport.stderr));
        const ended = transport.ended ?? '';
        return said === '' || ended === '' ? ended : `${ended}${LAST_WORDS}${said}`;
      },
      redact: (text) => scope.redact(text),
      hasSession: () => false,
      denied: () => undefined,
      refused: (isStarted) =>
        sandboxRefusals(scope, {
          said: scope.redact(transport.stderr),
          ...(!isStarted && { command }),
        }),
      close: () => transport.close(),
    };
  };
}

/** Returns the last words of a program, without stack lines. */
function lastWords(said: string): string {
  const lines = said.split('\n').filter((line) => !/^\s*at /.test(line));
  return lines.join('\n').trim().slice(-500);
}
