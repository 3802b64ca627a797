import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folders of a program. All are empty. */
export interface Place {
  home: string;
  temporary: string;
  work: string;
}

/** Makes a place, and removes it when `use` has ended. */
export async function inPlace<T>(use: (place: Place) => Promise<T>): Promise<T> {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'place-')));
  try {
    return await use(placeIn(parent));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

export function placeIn(parent: string): Place {
  const path = (name: string) => join(parent, name);
  const place = { home: path('home'), temporary: path('tmp'), work: path('work') };
  for (const folder of Object.values(place)) mkdirSync(folder, { recursive: true });
  return place;
}
