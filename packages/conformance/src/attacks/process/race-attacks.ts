import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { countTries, inCheck, tries } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { expect, it } from 'vitest';
import type { CreateCall } from './attacked-call.js';
import { SandboxWorld } from './sandbox-world.js';

/**
 * Attacks in which a root, or a folder beside a denied path, is replaced by a link and back, again
 * and again.
 */
export function sandboxRaceAttacks(create: CreateCall): void {
  const world = new SandboxWorld();

  const swaps: Array<[string, string, { read: string[]; write: string[]; deny: string[] }]> = [
    ['a root', 'swapped', { read: ['swapped'], write: [], deny: [] }],
    ['a folder above a root', 'above', { read: ['above/root'], write: [], deny: [] }],
    [
      'a folder beside the deny floor',
      'wide/swapped',
      { read: [], write: ['wide'], deny: ['wide/floor'] },
    ],
  ];
  it.for(inCheck(swaps, ([what]) => what === 'a root'))(
    'never sees where %s leads that is swapped for a link',
    async ([, swapped, relative], context) => {
      const at = (paths: string[]) => paths.map((path) => join(world.root, path));
      const target = join(world.root, swapped);
      for (const path of [swapped, ...relative.read, ...relative.write, 'outside/root']) {
        mkdirSync(join(world.root, path), { recursive: true });
      }
      const reach = { read: at(relative.read), write: at(relative.write), deny: at(relative.deny) };
      const call = create(reach);
      // The first start looks up where the roots lead.
      await call.process.spawn('true', []);
      const swap =
        'while :; do mv "$1" "$1.away"; ln -s "$2" "$1"; rm "$1"; mv "$1.away" "$1"; done';
      const swapper = spawn('sh', ['-c', swap, 'sh', target, join(world.root, 'outside')], {
        stdio: 'ignore',
      });
      const rounds = tries({ check: 5, long: 1000 });
      try {
        for (let round = 0; round < rounds; round++) {
          const look =
            'cd /; find "$1" -name secret -exec cat {} +; cat "$1/secret" "$1/root/secret"';
          const seen = await call.process.spawn('sh', ['-c', look, 'sh', target]).then(
            ({ stdout }) => stdout,
            (error: unknown) => errorCodeOf(error),
          );
          expect(['', 'SPAWN_FAILED', 'PATH_NOT_REACHABLE']).toContain(seen);
        }
      } finally {
        swapper.kill('SIGKILL');
      }
      countTries(context, 'reach', rounds);
    },
  );
}
