import { symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { HOSTILE_TEXTS } from '../hostile-text.js';
import { hasFiles, hasMemory, hasNetwork, mentions, type Scenario } from '../scenario.js';
import type { World } from '../world.js';
import { filesBelow } from '../world-files.js';

const CALLS_AT_ONCE = 16;

/**
 * The scenario in which an attacker has made the model send arguments that lead out of the reach.
 * Each text in the arguments is replaced in turn. No argument names a real place of this machine,
 * since a tool may remove files without asking.
 */
export const hostileArguments: Scenario = {
  name: 'hostile arguments',
  applies: (probe) => probe.world.calls.some((args) => [...withEachText(args, '')].length > 0),
  async run(probe) {
    const { world } = probe;
    symlinkSync(world.files.outside, join(world.files.reach, linkOf(world)));
    const texts = [...placesOutside(world), ...urlsOutside(world), ...MALFORMED];
    const hostile = world.calls.flatMap((args) =>
      texts.flatMap((text) => [...withEachText(args, text)]),
    );
    for (let start = 0; start < hostile.length; start += CALLS_AT_ONCE) {
      await probe.run(hostile.slice(start, start + CALLS_AT_ONCE));
    }
    if (hasNetwork(probe)) probe.try('network', hostile.length);
    if (hasFiles(probe) || hasMemory(probe)) probe.try('reach', hostile.length);
  },
};

/** Returns a name that does not exist in any other working directory. */
function linkOf({ files }: World): string {
  return `link-to-${basename(files.outside)}`;
}

function placesOutside(world: World): string[] {
  const { files, root } = world;
  const link = linkOf(world);
  // Uses the names of files, not their content: a text with the canary would appear in every answer
  // that repeats the arguments.
  const names = filesBelow(files.reach);
  const asked = names.filter((name) => mentions(world.calls, name));
  return ['', ...(asked.length > 0 ? asked : names.slice(0, 1))].flatMap((below) => {
    const target = join(files.outside, below);
    return [
      target,
      `${root}/../${basename(files.outside)}/${below}`,
      relative(files.reach, target),
      join(root, link, below),
      `${link}/${below}`,
      `file://${target}`,
    ];
  });
}

function urlsOutside({ canary, server }: World): string[] {
  const { port, origin } = canary;
  return [
    `${origin}/`,
    `http://localhost:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://2130706433:${port}/`,
    `http://127.0.0.1:${server.port}@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}\\@127.0.0.1:${server.port}/`,
    'http://elsewhere.contained.example/',
  ];
}

const MALFORMED = ['\0', 'x'.repeat(5_000), '\ud800', HOSTILE_TEXTS[0]];

/** Yields the arguments, each time with another one of their texts replaced. */
function* withEachText(value: unknown, text: string): Generator<unknown> {
  if (typeof value === 'string') yield text;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const hostile of withEachText(inner, text)) {
      yield Array.isArray(value) ? value.with(Number(key), hostile) : { ...value, [key]: hostile };
    }
  }
}
