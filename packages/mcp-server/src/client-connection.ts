import { setImmediate as turn } from 'node:timers/promises';
import type { ToolSession } from '@ethosagent/core';
import { callListener, discard, errorText } from '@ethosagent/policy';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { CallIds } from './call-ids.js';
import { callResultOf, refusedCall } from './call-result.js';
import { ClientApprovals } from './client-approvals.js';
import { givesStructured, listedTool } from './listed-tool.js';
import { progressTo } from './progress.js';
import type { McpServeOptions, McpSessionSettings, ServedRuntime } from './served-runtime.js';
import { ToolListWatch } from './tool-list-watch.js';

export interface ClientConnectionParts {
  runtime: ServedRuntime;
  sessionId: string;
  /** The name of the client, for the record of its decisions. */
  client: string;
  settings: McpSessionSettings;
  options: McpServeOptions;
}

/** The SDK checks a call again and says what is wrong with it. Here, it would be an internal error. */
const AnyCallSchema = z.looseObject({ method: z.literal('tools/call') });

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A client with a session of its own, over any transport. */
export class ClientConnection {
  readonly session: ToolSession;
  /** Settles when the connection has ended and nothing of it runs any more. */
  readonly ended: Promise<void>;
  readonly #parts: ClientConnectionParts;
  readonly #server: Server;
  readonly #approvals: ClientApprovals;
  readonly #ids: CallIds;
  readonly #watch: ToolListWatch;
  readonly #running = new Set<Promise<unknown>>();
  readonly #stops = new Set<AbortController>();
  #closing: DOMException | undefined;

  constructor(parts: ClientConnectionParts) {
    const { runtime, sessionId, client, settings, options } = parts;
    const { name = 'ethosagent', version = '0.1.0', instructions, approvals = 'client' } = options;
    this.#parts = parts;
    // `McpServer` only accepts JSON Schemas made by Zod.
    this.#server = new Server(
      { name, version },
      {
        capabilities: { tools: { listChanged: true } },
        ...(instructions !== undefined && { instructions }),
      },
    );
    this.#approvals = new ClientApprovals({
      server: this.#server,
      personality: () => runtime.personality(this.session.personalityId),
      by: client,
      timeoutMs: options.approvalTimeoutMs ?? 600_000,
    });
    this.session = runtime.session(sessionId, {
      ...settings,
      ...(approvals === 'client' && { approve: this.#approvals.approve }),
    });
    this.#ids = new CallIds(this.session);
    this.#watch = new ToolListWatch({
      session: this.session,
      everyMs: options.toolsCheckMs ?? 5_000,
      onChange: () => discard(this.#server.sendToolListChanged()),
    });
    this.ended = new Promise((resolve) => {
      this.#server.onclose = () => resolve(this.#end());
    });
    discard(this.ended);
    this.#server.setRequestHandler(ListToolsRequestSchema, () => this.#list());
    this.#server.setRequestHandler(AnyCallSchema, (request, extra) => {
      const { params } = CallToolRequestSchema.parse(request);
      return this.#running.size < (options.maxCallsAtOnce ?? 64)
        ? this.#tracked(this.#call(params, extra))
        : refusedCall('too many calls at once; wait for those that run');
    });
  }

  connect(transport: Transport): Promise<void> {
    return this.#server.connect(transport);
  }

  /**
   * Stops the calls, answers them, and ends the connection. What the calls left running ends, too.
   */
  async close(): Promise<void> {
    this.#closing ??= new DOMException('the server was closed', 'AbortError');
    for (const stop of this.#stops) stop.abort(this.#closing);
    await Promise.allSettled(this.#running);
    // The SDK sends the answers in promises of its own.
    await turn();
    await this.drop();
  }

  /** Ends the connection of a client that is gone. Its calls get no answer. */
  async drop(): Promise<void> {
    await this.#server.close();
    await this.ended;
  }

  async #list() {
    const definitions = await this.session.definitions();
    this.#watch.told(definitions);
    const { runtime } = this.#parts;
    return {
      tools: definitions.map((definition) => listedTool(definition, runtime.tool(definition.name))),
    };
  }

  async #call(
    { name, arguments: args = {}, task }: CallToolRequest['params'],
    extra: Extra,
  ): Promise<CallToolResult> {
    // The server does not declare tasks, so the client would never get the result.
    if (task !== undefined) {
      throw new McpError(ErrorCode.InvalidParams, 'calls do not run as tasks');
    }
    const { runtime, client, sessionId, options } = this.#parts;
    const onProgress = progressTo(extra);
    const stop = this.#stopOf(extra.signal);
    const request = {
      requestId: extra.requestId,
      onAsk: () => onProgress({ message: 'waits for approval', audience: 'user' }),
    };
    try {
      const [answer] = await this.#ids.run({ name, args }, stop.signal, (toolCallId) =>
        this.#approvals.during(toolCallId, request, () =>
          this.session.execute([{ toolCallId, name, args }], {
            abortSignal: stop.signal,
            onProgress,
          }),
        ),
      );
      if (answer === undefined) return refusedCall(`${name} gave no result`);
      const { approval } = answer;
      if (approval !== undefined) {
        callListener(() => options.onWaiting?.({ client, sessionId, approval }));
      }
      return callResultOf(answer, { sessionId, isStructured: givesStructured(runtime.tool(name)) });
    } catch (error) {
      return refusedCall(errorText(error));
    } finally {
      this.#stops.delete(stop);
      this.#watch.look();
    }
  }

  /** Fires when the client withdraws its call, or the connection closes. */
  #stopOf(withdrawn: AbortSignal): AbortController {
    const stop = new AbortController();
    const abort = () => stop.abort(this.#closing ?? withdrawn.reason);
    if (this.#closing !== undefined || withdrawn.aborted) abort();
    else withdrawn.addEventListener('abort', abort, { once: true });
    this.#stops.add(stop);
    return stop;
  }

  #tracked<T>(call: Promise<T>): Promise<T> {
    this.#running.add(call);
    return call.finally(() => this.#running.delete(call));
  }

  async #end(): Promise<void> {
    this.#watch.end();
    // Their signals have already fired: the SDK keeps one for each id, and ids in flight are unique.
    await Promise.allSettled(this.#running);
    await this.session.end();
  }
}
