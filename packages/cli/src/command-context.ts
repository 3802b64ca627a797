import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '@ethosagent/types';
import type { ToolRuntime, ToolRuntimeOptions } from '@ethosagent/wiring';
import { CallPreviews } from './call-preview.js';
import { type CliConfig, loadCliConfig } from './cli-config.js';
import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';
import { findHome } from './find-home.js';
import { Output } from './output.js';
import { sharedStores, withStores } from './shared-stores.js';

export interface GlobalOptions {
  home?: string | undefined;
  personality?: string | undefined;
  stores?: string | undefined;
  json: boolean;
}

/**
 * The runtime, stores and options of a command. Everything that it opens is closed when the command
 * has ended.
 */
export class CommandContext {
  readonly io: CliIo;
  readonly out: Output;
  readonly previews = new CallPreviews();
  readonly #options: GlobalOptions;
  #home: string | undefined;
  #config: Promise<CliConfig> | undefined;
  readonly #opened: { close(): Promise<void> }[] = [];

  constructor(io: CliIo, options: GlobalOptions) {
    this.io = io;
    this.#options = options;
    this.out = new Output(io, options.json);
  }

  /** @throws `CONFIG_INVALID` if there is no home */
  get home(): string {
    this.#home ??= findHome(this.io, this.#options.home);
    return this.#home;
  }

  /** The configuration of the home. @throws `CONFIG_INVALID` */
  config(): Promise<CliConfig> {
    this.#config ??= this.#loadConfig();
    return this.#config;
  }

  async #loadConfig(): Promise<CliConfig> {
    const config = await loadCliConfig(this.home);
    return withStores(config, await sharedStores(this.io.env, this.#options.stores));
  }

  /** The database for the state, if an option named one. */
  get namedStores(): string | undefined {
    return this.#options.stores;
  }

  /** The home, if an option named one. */
  get namedHome(): string | undefined {
    return this.#options.home;
  }

  /** The personality, if an option named one. */
  get namedPersonality(): string | undefined {
    return this.#options.personality;
  }

  /** The ids of all personalities. @throws `CONFIG_INVALID` if there are none */
  personalityIds(): string[] {
    const folder = join(this.home, 'personalities');
    let ids: string[];
    try {
      ids = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => !entry.name.startsWith('.') && !entry.isFile())
        .map(({ name }) => name)
        .sort();
    } catch (cause) {
      throw usageError(
        `${folder} can not be read (${errorCodeOf(cause) ?? Object(cause).code}); make it with "ethosagent init"`,
      );
    }
    if (ids.length === 0) {
      throw usageError(`${folder} has no personality; make one with "ethosagent init"`);
    }
    return ids;
  }

  /** The personality to use. @throws `CONFIG_INVALID` if there are several and none was named */
  async personalityId(): Promise<string> {
    const named = this.namedPersonality ?? (await this.config()).personality;
    if (named !== undefined) return named;
    const ids = this.personalityIds();
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) return only;
    throw usageError(`which personality? name one with --personality: ${ids.join(', ')}`);
  }

  /**
   * The id of some personality, for a command that runs no tools.
   * @throws `CONFIG_INVALID` if the home has none
   */
  async anyPersonalityId(): Promise<string> {
    const named = this.namedPersonality ?? (await this.config()).personality;
    return named ?? this.personalityIds()[0] ?? (await this.personalityId());
  }

  /**
   * The runtime of the agent, as the agent's own program would create it. @throws `CONFIG_INVALID`
   * and others
   */
  async openRuntime(options: Partial<ToolRuntimeOptions> = {}): Promise<ToolRuntime> {
    const { createToolRuntime, installedTools } = await import('@ethosagent/wiring');
    const config = await this.config();
    const runtime = await createToolRuntime({
      tools: config.tools ?? installedTools(),
      ...config,
      home: this.home,
      cwd: this.io.cwd,
      personality: options.personality ?? (await this.personalityId()),
      ...this.previews.hooks(config),
      ...options,
    });
    this.closeLater(runtime);
    return runtime;
  }

  /** The sessions of the home. Opens no tools: stored sessions only refer to tools by name. */
  async openSessions(): Promise<ToolRuntime['sessions']> {
    const personality = await this.anyPersonalityId();
    return (await this.openRuntime({ tools: [], personality })).sessions;
  }

  /** Closes `opened` when the command has ended. */
  closeLater(opened: { close(): Promise<void> }): void {
    this.#opened.push(opened);
  }

  async close(): Promise<void> {
    for (const each of this.#opened.splice(0).reverse()) await each.close();
  }
}
