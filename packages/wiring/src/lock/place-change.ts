import { isWithin, meetHosts } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import { placeIn } from '../personality-places.js';
import type { LockChange } from './lock-change.js';

/** Keys whose last part may contain dots. */
const NAMED = ['safety.process.arguments.', 'safety.secrets.', 'tool_settings.'];

/** A change, with the file and line where its cause stands now. */
export function placeChange(
  change: LockChange,
  { file, config, tool }: { file: string; config: PersonalityConfig; tool: AnyTool | undefined },
): LockChange {
  const { policy } = change;
  if (policy === undefined) return { ...change, file };
  const place = placeIn(file, config, pathOf(config, change, tool));
  const line = Number(/:(\d+):\d+$/.exec(place.slice(file.length))?.[1]);
  return { ...change, file, ...(Number.isInteger(line) && { line }) };
}

function pathOf(
  config: PersonalityConfig,
  { policy = '', entry, tool: name }: LockChange,
  tool: AnyTool | undefined,
): (string | number)[] {
  if (policy.startsWith('tool_settings.')) {
    return ['tool_settings', tool?.settingsKey ?? name ?? ''];
  }
  const named = NAMED.find((prefix) => policy.startsWith(prefix));
  const path =
    named === undefined
      ? policy.split('.')
      : [...named.slice(0, -1).split('.'), policy.slice(named.length)];
  const list: unknown = path.reduce(
    (value: unknown, part) => Object.getOwnPropertyDescriptor(Object(value), part)?.value,
    config,
  );
  if (!Array.isArray(list) || entry === undefined) return path;
  const index = entryOf(list, entry, { policy, label: tool?.toolset });
  return index < 0 ? path : [...path, index];
}

/**
 * The entry of a list from which a part of a reach comes: the same entry, or one that covers it.
 */
function entryOf(
  list: readonly unknown[],
  entry: string,
  { policy, label }: { policy: string; label: string | undefined },
): number {
  const exact = list.indexOf(entry);
  if (exact >= 0) return exact;
  if (policy === 'toolset') return label === undefined ? -1 : list.indexOf(label);
  const texts = list.map(String);
  if (policy === 'safety.network.allow') {
    const whole = meetHosts(entry, entry);
    return texts.findIndex((each) => whole !== null && meetHosts(each, entry) === whole);
  }
  if (policy.startsWith('fs_reach.')) return texts.findIndex((each) => isWithin(entry, each));
  return -1;
}
