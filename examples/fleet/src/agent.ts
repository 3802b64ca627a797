import { createFleet, type Fleet } from '@ethosagent/agent-loop';
import { createBullmqEngine } from '@ethosagent/engine-bullmq';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { scriptedModel } from '@ethosagent/plugin-sdk/testing';
import { createPostgresStores, createPostgresTurns } from '@ethosagent/storage-postgres';
import { type Agent, createAgent } from '@ethosagent/wiring/agent';
import { z } from 'zod';

/** Where this story takes place. */
export interface Place {
  home: string;
  /** Each effect leaves a file of its own here, so that none can hide behind another. */
  effects: string;
  postgres: string;
  redis: string;
}

const input = z.object({ parcel: z.string() });

/** The tools: packing is free to do, shipping needs somebody's yes. */
function toolsOf({ effects }: Place) {
  let count = 0;
  const leave = (what: string) => `${effects}/${what}.${process.pid}.${++count}`;
  const capabilities = { fs_reach: { write: [effects] } };
  return [
    defineTool({
      name: 'pack',
      description: 'Packs a parcel.',
      input,
      capabilities,
      effects: ['write'],
      async execute({ parcel }, ctx) {
        await ctx.scopedFs.write(leave(`pack-${parcel}`), parcel);
        return ok(`packed ${parcel}`);
      },
    }),
    defineTool({
      name: 'ship',
      description: 'Ships a parcel.',
      input,
      capabilities,
      effects: ['write'],
      requiresApproval: ({ parcel }) => `ships ${parcel}`,
      async execute({ parcel }, ctx) {
        await ctx.scopedFs.write(leave(`ship-${parcel}`), parcel);
        return ok(`shipped ${parcel}`);
      },
    }),
  ];
}

/** Packs, packs again, ships, and answers: what it says is a function of what it is asked. */
const model = scriptedModel(({ prompt }) => {
  const parcel = wordsOf(prompt.find(({ role }) => role === 'user')?.content);
  const at = prompt.filter(({ role }) => role === 'tool').length;
  const tool = ['pack', 'pack', 'ship'][at];
  if (tool === undefined) return `${parcel} is on its way`;
  return [[tool, { parcel: `${parcel}-${at}` }, `call-${at}`]];
});

function wordsOf(content: unknown): string {
  const [part] = Array.isArray(content) ? content : [];
  return typeof part?.text === 'string' ? part.text : '';
}

/** The agent and the fleet, as each process has them. */
export async function openFleet(place: Place): Promise<{
  agent: Agent;
  fleet: Fleet;
  close(): Promise<void>;
}> {
  const database = { url: place.postgres, maxConnections: 4 };
  const turns = await createPostgresTurns(database).open();
  const fleet = createFleet({
    engine: createBullmqEngine({ connection: place.redis }),
    turns: turns.store,
  });
  const agent = await createAgent({
    home: place.home,
    personality: 'packer',
    model,
    tools: toolsOf(place),
    stores: createPostgresStores(database),
    context: false,
  });
  return {
    agent,
    fleet,
    async close() {
      await fleet.close();
      await agent.close();
      await turns.close();
    },
  };
}
