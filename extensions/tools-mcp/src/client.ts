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

/** For whom a server asks. */
export interface McpAsker {
  server: string;
  personality: string | undefined;
  /** Fires when the answer is no longer wanted. */
  signal: AbortSignal;
}

/**
 * Asks a model instead of a server. What it is shown is the server's word, to be taken as untrusted
 * text: no secrets are in it, and no tools or context go with it, but what the model answers goes to
 * the server. Hidden characters are taken out, and 8,192 tokens at most are asked for. Refused before:
 * tools, and more than 100 messages or 1,000,000 characters.
 */
export type McpSampling = (
  request: CreateMessageRequest['params'],
  asker: McpAsker,
) => Promise<CreateMessageResult>;

/**
 * Asks the user instead of a server. Refused before: addresses, more than 30 fields, and forms that
 * ask for a secret, by English words such as password, key, token and code. One that asks in other
 * words comes here: show the user who asks. Fields that were not asked for do not go to the server.
 */
export type McpElicitation = (
  request: ElicitRequest['params'],
  asker: McpAsker,
) => Promise<ElicitResult>;

export interface ClientOptions {
  server: string;
  personality: string | undefined;
  /** Folders that the server is told; absent for one that is told none. */
  roots: (() => readonly string[]) | undefined;
  onSampling: McpSampling | undefined;
  onElicitation: McpElicitation | undefined;
  onLog: McpLog | undefined;
  /** Removes secrets that the server was given from its texts. */
  redact: (text: string) => string;
}

const MAX_ASKED_AT_ONCE = 2;
const MAX_ASKED_IN_A_BURST = 10;
const ASKED_A_MINUTE = 10;

/** A client that refuses every request for which the host has no handler. */
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
