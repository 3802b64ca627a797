import { MAX_TIMER_MS } from '@ethosagent/policy';
import { EthosError, type ServiceScope } from '@ethosagent/types';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createClient } from './client.js';
import type { McpServerConfig } from './config.js';
import { reasonOf, withRefusals } from './connection-failure.js';
import { declarationOf } from './declaration.js';
import { processWire } from './process-wire.js';
import { remoteWires } from './remote-wire.js';
import { Variables } from './resolve-variables.js';
import {
  type ConnectFailure,
  type ConnectOptions,
  type ConnectResult,
  rootsOf,
} from './server-session.js';
import { withDeadline } from './with-deadline.js';

/** Opens the service of a server and connects to the server. */
export async function connectServer(
  server: McpServerConfig,
  personality: string | undefined,
  options: ConnectOptions & { closing: AbortSignal },
): Promise<ConnectResult> {
  const declared = declarationOf(server, options.variables);
  if (!declared.ok) return { ...declared, again: false };
  let scope: ServiceScope | undefined;
  try {
    const held = await options.heldBack(server);
    if (held !== undefined) return { ok: false, reason: held, again: false };
    const owner = {
      ...(personality === undefined ? {} : { personalityId: personality }),
      ...(options.workingDir === undefined ? {} : { workingDir: options.workingDir }),
    };
    const { name, capabilities } = declared.declaration;
    scope = await options.host.openService(declared.declaration, owner);
    if (server.kind === 'process' && server.cwd === undefined && rootsOf(scope).length === 0) {
      // If nothing is in reach, no working directory is allowed, and the program could not start.
      await scope.end();
      const { fs_reach: _, ...others } = capabilities;
      scope = await options.host.openService({ name, capabilities: others }, owner);
    }
    const connected = await connectWithin(scope, { server, personality }, options);
    if (!connected.ok) await scope.end();
    return connected;
  } catch (error) {
    const reason = reasonOf(error, (text) => scope?.redact(text) ?? text);
    await scope?.end();
    return { ok: false, ...reason };
  }
}

async function connectWithin(
  scope: ServiceScope,
  { server, personality }: { server: McpServerConfig; personality: string | undefined },
  options: ConnectOptions & { closing: AbortSignal },
): Promise<ConnectResult> {
  const variables = new Variables(server.name, scope, options);
  const wires =
    server.kind === 'process'
      ? [await processWire({ server, scope, variables }, options)]
      : await remoteWires({ server, scope, variables }, personality, options);
  if (variables.missing.length > 0) {
    return { ok: false, reason: `it needs ${variables.missing.join('; ')}`, again: false };
  }
  let failure: ConnectFailure = { reason: 'there is no way to reach it', again: false };
  for (const open of wires) {
    const wire = open();
    const client = createClient({
      server: server.name,
      personality,
      roots: scope.reach === undefined ? undefined : () => rootsOf(scope),
      onSampling: options.onSampling,
      onElicitation: options.onElicitation,
      onLog: options.onLog,
      redact: wire.redact,
    });
    try {
      const connecting = client.connect(wire.transport, { timeout: MAX_TIMER_MS });
      await withDeadline(connecting, options.limits, options.closing);
      if (options.onLog !== undefined && client.getServerCapabilities()?.logging !== undefined) {
        // A server that refuses the level chooses its own.
        client.setLoggingLevel(options.logLevel).catch(() => {});
      }
      const close = async () => {
        await wire.close();
        await scope.end();
      };
      const { redact, hasSession, refused } = wire;
      const why = () => withRefusals(wire.why(), wire.refused(true));
      return { ok: true, session: { client, scope, why, refused, redact, hasSession, close } };
    } catch (error) {
      const said = wire.why();
      const refused = wire.refused(false);
      await wire.close();
      const { reason, ...rest } = reasonOf(
        said === '' ? error : new EthosError('NETWORK_FAILED', said, { cause: error }),
        wire.redact,
        wire.denied(),
      );
      failure = { ...rest, reason: withRefusals(reason, refused) };
      if (!isOldServer(error)) break;
    }
  }
  return { ok: false, ...failure };
}

/** Whether a server may use the older transport, by the rule of the specification. */
function isOldServer(error: unknown): boolean {
  return error instanceof StreamableHTTPError && [400, 404, 405].includes(error.code ?? 0);
}
