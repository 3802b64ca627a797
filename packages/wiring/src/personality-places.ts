import type { PersonalityConfig } from '@ethosagent/types';

type FindPlace = (path: readonly (string | number)[]) => string;

const places = new WeakMap<PersonalityConfig, FindPlace>();

/** Records how to find parts of a config in the file that it came from. */
export function notePlaces(config: PersonalityConfig, find: FindPlace): void {
  places.set(config, find);
}

/**
 * The `file:line:column` of a part of a config, or of the nearest part around it. Only the file if
 * the config does not come from a single file.
 */
export function placeIn(
  file: string,
  config: PersonalityConfig,
  path: readonly (string | number)[],
): string {
  const [key = ''] = path;
  // For a key that the file does not have, the nearest place would be the first line, which would
  // mislead.
  const place = Object.hasOwn(config, key) ? places.get(config)?.(path) : undefined;
  return place === undefined ? file : `${file}:${place}`;
}
