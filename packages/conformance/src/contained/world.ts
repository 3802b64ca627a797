import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { type CapabilityBackends, DefaultToolRegistry, MemoryAuditSink } from '@ethosagent/core';
import type { AnyTool, DelegationProvider, TurnAttachment } from '@ethosagent/types';
import { honestAnswer } from './answers.js';
import type { Canary } from './canaries.js';
import type { ContainedWorld, ContainmentOptions, FromWorld } from './options.js';
import { endMarkedProcesses } from './processes.js';
import { createBackends, declaredHosts, declaredPaths, isLoopback } from './world-backends.js';
import { WorldDelegation } from './world-delegation.js';
import { createWorldFetch } from './world-fetch.js';
import { WorldFiles } from './world-files.js';
import { WorldMemory } from './world-memory.js';
import { type Answer, WorldServer } from './world-server.js';

/** The world of a tool: real files, servers, stores and processes, in one temporary folder. */
export class World implements ContainedWorld {
  /** The mark of requests and processes that came through the context. No tool knows it. */
  readonly pass = randomUUID();
  readonly token = `token-${randomUUID()}`;
  readonly files: WorldFiles;
  readonly memory: WorldMemory;
  readonly server = new WorldServer(this.pass);
  /** A host that no policy allows. Nobody may connect to it. */
  readonly canary = new WorldServer(this.pass);
  readonly audit = new MemoryAuditSink();
  readonly #name = randomUUID().replaceAll('-', '').slice(0, 16);
  readonly #outside = `outside-${randomUUID()}`;
  readonly #tool: AnyTool;
  readonly #options: ContainmentOptions;
  readonly #subAgents = new WorldDelegation(() => this.token);
  readonly #secrets = new Map<string, string>();
  readonly #fetch: typeof globalThis.fetch;
  #backends: CapabilityBackends | undefined;
  #ended = new AbortController();

  /** @param fetch the platform's own, which sends the world's requests */
  constructor(tool: AnyTool, options: ContainmentOptions, fetch: typeof globalThis.fetch) {
    this.#tool = tool;
    this.#options = options;
    this.#fetch = fetch;
    this.files = new WorldFiles(this.#name, this.#outside);
    this.memory = new WorldMemory({
      personalityId: options.personality?.id,
      outside: this.#outside,
    });
  }

  async start(): Promise<void> {
    this.endRequests();
    await Promise.all([this.server.start(), this.canary.start()]);
    this.#backends = createBackends({
      tool: this.#tool,
      options: this.#options,
      files: this.files,
      pass: this.pass,
      ownHost: `127.0.0.1:${this.server.port}`,
      fetch: createWorldFetch({ ...this.#fetchOptions(), pass: this.pass }),
      audit: this.audit,
      memory: this.memory,
      secrets: this.#secrets,
    });
    this.lay();
  }

  get root(): string {
    return declaredPaths(this.#tool)[0] ?? this.files.reach;
  }

  // Arrow functions, so that an author may use them without the world.
  readonly file = (name: string): string => join(this.root, name);

  readonly url = (path = '/'): string => {
    const host = declaredHosts(this.#tool).find((declared) => declared !== '*');
    const origin =
      host === undefined || isLoopback(host)
        ? this.server.origin
        : `https://${host.replace('*.', 'www.')}`;
    return new URL(path, origin).href;
  };

  /** The calls that the author gave. */
  get calls(): readonly unknown[] {
    const args = resolved<object>(this.#options.args, this);
    return Array.isArray(args) ? args : [args];
  }

  /** The answer of the world's server when nothing is wrong. */
  get honestAnswer(): Answer {
    return honestAnswer(this.#options.answer, this);
  }

  /** The provider that answers tasks instead of sub-agents. */
  get delegation(): DelegationProvider {
    return this.#options.delegation ?? this.#subAgents;
  }

  get attachments(): readonly TurnAttachment[] {
    return this.#options.attachments ?? [];
  }

  /** Creates everything again: files, binaries, answers, and the records of the last calls. */
  lay(): void {
    const files = resolved(this.#options.files, this) ?? defaultFiles(this.token);
    const at = this.root.startsWith(this.files.base) ? '' : this.root;
    this.files.lay(
      new Map(
        Object.entries(files).map(([name, content]) => [
          join(at, name).replace(/^\/+/, ''),
          Buffer.from(content),
        ]),
      ),
    );
    this.putHonestBinaries();
    this.memory.lay({
      memory: resolved(this.#options.memory, this) ?? defaultMemory(this.token),
      messages: resolved(this.#options.messages, this) ?? defaultMessages(this.token),
    });
    this.server.answer = this.honestAnswer;
    this.canary.answer = (_, response) => void response.end(this.#outside);
    this.server.reset();
    this.canary.reset();
    this.audit.events.length = 0;
  }

  /** Makes every declared binary run `program`, if it can be replaced. */
  putBinaries(program: string): void {
    for (const name of this.#bareBinaries) this.files.putBinary(name, program);
  }

  putHonestBinaries(): void {
    this.files.removeBinaries();
    for (const name of this.#bareBinaries) {
      const program = this.#options.binaries?.[name];
      if (program !== undefined) this.files.putBinary(name, program);
    }
  }

  /** Creates a registry with the tool in this world. */
  registry(tool: AnyTool): DefaultToolRegistry {
    const registry = new DefaultToolRegistry(this.#backends);
    registry.register(tool);
    return registry;
  }

  /** Returns the values that must not appear anywhere. */
  canaries(): Canary[] {
    return [
      {
        value: this.#outside,
        what: 'what is outside the reach or the policy',
        promised: 'reach',
        isRandom: true,
      },
      ...[...this.#secrets].map(
        ([ref, value]): Canary => ({
          value,
          what: `the secret ${ref}`,
          promised: 'secrets',
          isRandom: this.#options.secrets?.[ref] === undefined,
        }),
      ),
    ];
  }

  /** Creates another world for the same tool. */
  async sibling(): Promise<World> {
    const world = new World(this.#tool, this.#options, this.#fetch);
    await world.start();
    return world;
  }

  /** Returns the values that must not appear in another world. */
  belongings(): Canary[] {
    const mixed = { promised: 'batches', isRandom: true } as const;
    return [
      { ...mixed, value: this.token, what: 'what a file or an answer says' },
      { ...mixed, value: this.#name, what: 'a path' },
      ...this.canaries(),
    ];
  }

  /** Creates a `fetch` for a tool that does not use its context. */
  rawFetch(): typeof globalThis.fetch {
    return createWorldFetch(this.#fetchOptions());
  }

  /** Ends the requests to hosts that the world plays. The others end by themselves. */
  endRequests(): void {
    this.#ended.abort();
    this.#ended = new AbortController();
    setMaxListeners(Number.POSITIVE_INFINITY, this.#ended.signal);
  }

  close(): void {
    endMarkedProcesses(this.pass);
    this.endRequests();
    this.server.close();
    this.canary.close();
    this.files.remove();
  }

  get #bareBinaries(): string[] {
    const declared = this.#tool.capabilities.process?.allowedBinaries ?? [];
    const own = declared.includes('*') ? Object.keys(this.#options.binaries ?? {}) : [];
    return [...declared, ...own].filter((name) => /^[\w.+-]*[\w+-]$/.test(name));
  }

  #fetchOptions() {
    const { server, canary } = this;
    const declared = declaredHosts(this.#tool);
    const allowed = this.#options.personality?.safety?.network?.allow ?? [];
    // A declared `*` stands for what the personality allows.
    const hosts = declared.flatMap((host) => (host === '*' ? allowed : [host]));
    return { fetch: this.#fetch, server, canary, hosts, ended: () => this.#ended.signal };
  }
}

function resolved<T>(value: FromWorld<T>, world: ContainedWorld): T {
  return value instanceof Function ? value(world) : value;
}

function defaultMemory(token: string): Record<string, string> {
  return {
    Notes: `An ordinary note. Its token is ${token}.`,
    Plans: `The first step. TODO: the second. Its token is ${token}.`,
  };
}

function defaultMessages(token: string): string[] {
  return [`Please make an ordinary note. Its token is ${token}.`, 'The note is made.'];
}

function defaultFiles(token: string): Record<string, string> {
  return {
    'notes.txt': `An ordinary note.\nIts token is ${token}.\n`,
    'docs/plan.md': `# A plan\n\nThe first step. TODO: the second.\nIts token is ${token}.\n`,
    'docs/deep/list.txt': 'one\ntwo\nthree\n',
  };
}
