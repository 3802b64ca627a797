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
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

/** For whom a server asks. */
export interface McpAsker {
  server: string;
  personality: string | undefined;
  /** Fires when the answer is no longer wanted. */
  signal: AbortSignal;
}

/** Asks a model in place of a server. */
export type McpSampling = (
  request: CreateMessageRequest['params'],
  asker: McpAsker,
) => Promise<CreateMessageResult>;

/** Asks the user in place of a server. */
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
}

const MAX_ASKED_AT_ONCE = 2;

/** A client that says no to what the host did not wire. */
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
      // Schemas of a server are not run: their patterns may take forever.
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
  const oneOfFew = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (asked >= MAX_ASKED_AT_ONCE) {
      throw new McpError(ErrorCode.InvalidRequest, 'too many requests at once');
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
      oneOfFew(() => onSampling(params, { server, personality, signal })),
    );
  }
  if (onElicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      oneOfFew(() => onElicitation(params, { server, personality, signal })),
    );
  }
  return client;
}
