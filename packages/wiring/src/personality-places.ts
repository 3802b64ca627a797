import type { PersonalityConfig } from '@ethosagent/types';

type FindPlace = (path: readonly (string | number)[]) => string;

const places = new WeakMap<PersonalityConfig, FindPlace>();

/** Notes how to find the parts of a config in the file that it came from. */
export function notePlaces(config: PersonalityConfig, find: FindPlace): void {
  places.set(config, find);
}

/**
 * `file:line:column` of a part of a config, or of the nearest part around it; the file alone where
 * the config came from no one file.
 */
export function placeIn(
  file: string,
  config: PersonalityConfig,
  path: readonly (string | number)[],
): string {
  const [key = ''] = path;
  // Of a key that the file does not have, the nearest place would be its first line.
  const place = Object.hasOwn(config, key) ? places.get(config)?.(path) : undefined;
  return place === undefined ? file : `${file}:${place}`;
}
