import type { PersonalityConfig } from '@ethosagent/types';

type FindPlace = (path: readonly (string | number)[]) => string;

const places = new WeakMap<PersonalityConfig, FindPlace>();

/** Notes how to find the parts of a config in the file that it came from. */
export function notePlaces(config: PersonalityConfig, find: FindPlace): void {
  places.set(config, find);
}

/** `line:column` of a part of a config, or of the nearest part around it; `''` for no file. */
export function placeOf(config: PersonalityConfig, path: readonly (string | number)[]): string {
  return places.get(config)?.(path) ?? '';
}
