import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  type CreateMessageRequest,
  CreateMessageRequestSchema,
  type CreateMessageResult,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { answerTo, readElicitation, readSampling } from './asked-by-server.js';
import { logReader, type McpLog } from './server-log.js';
import { TokenBucket } from './token-bucket.js';

/** The server that asks, and the personality that it runs for. */
export interface McpAsker {
  server: string;
  personality: string | undefined;
  /** Fires when the server no longer waits for the answer. */
  signal: AbortSignal;
}

/**
 * Asks a model on behalf of a server. Treat the messages as untrusted text, because the server
 * wrote them. They have no secrets of the server, and no hidden characters. The request has no
 * tools and no context of yours, but the server gets the answer of the model. It asks for at most
 * 8,192 tokens. Requests with tools, with more than 100 messages or with more than 64,000
 * characters are refused before they come here.
 */
export type McpSampling = (
  request: CreateMessageRequest['params'],
  asker: McpAsker,
) => Promise<CreateMessageResult>;

/**
 * Asks the user on behalf of a server. Some requests are refused before they come here: those that
 * open a URL, forms of more than 30 fields, and forms that ask for a secret with English words such
 * as password, key, token and code. A form that asks for a secret in other words does come here, so
 * show the user who asks. The server gets only the fields that it asked for.
 */
export type McpElicitation = (
  request: ElicitRequest['params'],
  asker: McpAsker,
) => Promise<ElicitResult>;

export interface ClientOptions {
  server: string;
  personality: string | undefined;
  /** Returns the folders that the server is told as roots; `undefined` when it is told none. */
  roots: (() => readonly string[]) | undefined;
  onSampling: McpSampling | undefined;
  onElicitation: McpElicitation | undefined;
  onLog: McpLog | undefined;
  /** Removes from a text the secrets that the server got. */
  redact: (text: string) => string;
}

const MAX_ASKED_AT_ONCE = 2;
const MAX_ASKED_IN_A_BURST = 10;
const ASKED_A_MINUTE = 10;

/**
 * Returns the methods of a server whose parameters are read. `ping` and `roots/list` have none that
 * matter, but are answered.
 */
export function readMethods({
  onSampling,
  onElicitation,
  onLog,
}: Pick<ClientOptions, 'onSampling' | 'onElicitation' | 'onLog'>): ReadonlySet<string> {
  return new Set([
    'ping',
    'roots/list',
    'notifications/cancelled',
    'notifications/progress',
    'notifications/tools/list_changed',
    ...(onSampling === undefined ? [] : ['sampling/createMessage']),
    ...(onElicitation === undefined ? [] : ['elicitation/create']),
    ...(onLog === undefined ? [] : ['notifications/message']),
  ]);
}

/** Creates a client. It refuses every request of a server for which the host has no handler. */
export function createClient(options: ClientOptions): Client {
  const { roots, onSampling, onElicitation, server, personality } = options;
  const client = new Client(
    { name: 'ethosagent', version: '0.1.0' },
    {
      capabilities: {
        ...(roots === undefined ? {} : { roots: { listChanged: true } }),
        ...(onSampling === undefined ? {} : { sampling: {} }),
        ...(onElicitation === undefined ? {} : { elicitation: {} }),
      },
      // Schemas of a server are never run: their patterns may take forever.
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'not checked' }),
      },
    },
  );
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: roots().map((path) => ({ uri: pathToFileURL(path).href, name: path })),
    }));
  }
  let asked = 0;
  const asks = new TokenBucket(ASKED_A_MINUTE / 60, MAX_ASKED_IN_A_BURST);
  const oneOfFew = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (asked >= MAX_ASKED_AT_ONCE) {
      throw new McpError(ErrorCode.InvalidRequest, 'too many requests at once');
    }
    if (!asks.tryTake(1)) {
      throw new McpError(ErrorCode.InvalidRequest, 'too many requests in a minute');
    }
    asked++;
    try {
      return await ask();
    } finally {
      asked--;
    }
  };
  if (onSampling !== undefined) {
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }, { signal }) =>
      oneOfFew(() => onSampling(readSampling(params), { server, personality, signal })),
    );
  }
  if (onElicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      oneOfFew(async () => {
        const shown = readElicitation(params);
        return answerTo(shown, await onElicitation(shown, { server, personality, signal }));
      }),
    );
  }
  if (options.onLog !== undefined) {
    const read = logReader(options.onLog, { server, personality }, options);
    client.setNotificationHandler(LoggingMessageNotificationSchema, read);
  }
  return client;
}
