import { resolve } from 'node:path';
import { effectsOf, isObject } from '@ethosagent/policy';
import type { ReachKind } from '@ethosagent/types';
import { ScopedFetchImpl } from '../../scoped/scoped-fetch.js';
import { ScopedFsImpl } from '../../scoped/scoped-fs.js';
import { createCallContext } from '../call-accessors.js';
import type { CallState } from '../call-state.js';
import { type Step, threw } from './step.js';

/** The names that tools use for arguments with a path or a URL. */
const PATH_KEYS = ['path', 'file', 'file_path'];
const URL_KEYS = ['url', 'uri'];

/**
 * Applies when somebody gave other arguments for a call: the files and URLs that these name must be
 * within the reach of the call. Places that the tool works out itself are checked when it runs.
 */
export const judgePlaces: Step = (state) => {
  if (state.batch.input.host?.judgesPlaces !== true) return undefined;
  const paths = named(state.args, PATH_KEYS);
  const urls = named(state.args, URL_KEYS).filter((url) => /^https?:/i.test(url));
  if (!state.entry.needsBackends || paths.length + urls.length === 0) return undefined;
  const scope = state.newScope();
  try {
    const accessors: object = createCallContext(state, scope);
    const scopedFs = 'scopedFs' in accessors && accessors.scopedFs;
    const scopedFetch = 'scopedFetch' in accessors && accessors.scopedFetch;
    if (scopedFs instanceof ScopedFsImpl) {
      const { workingDir } = state.batch.facts;
      for (const path of paths) {
        assertReachable(scopedFs, resolve(workingDir, path), kindsOf(state, paths));
      }
    }
    if (scopedFetch instanceof ScopedFetchImpl) for (const url of urls) scopedFetch.assertUrl(url);
    return undefined;
  } catch (error) {
    return threw(state, error);
  } finally {
    scope.end();
  }
};

function named(args: unknown, keys: readonly string[]): string[] {
  if (!isObject(args)) return [];
  return keys.flatMap((key) => {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

/** If a tool writes and its arguments name one file, the tool writes that file. */
function kindsOf({ entry: { tool } }: CallState, paths: readonly string[]): ReachKind[] {
  const { read, write } = tool.capabilities.fs_reach ?? {};
  if (write !== undefined && paths.length === 1 && effectsOf(tool).includes('write')) {
    return ['write'];
  }
  return [...(read === undefined ? [] : ['read' as const]), ...(write ? ['write' as const] : [])];
}

function assertReachable(files: ScopedFsImpl, path: string, kinds: readonly ReachKind[]): void {
  const denials = kinds.flatMap((kind) => {
    try {
      files.assertReach(kind, path);
      return [];
    } catch (error) {
      return [error];
    }
  });
  if (denials.length > 0 && denials.length === kinds.length) throw denials[0];
}
