import { clip } from './clip.js';
import { tellsOfFailure, warns } from './failure-lines.js';
import type { OutputKind } from './output-kind.js';

const CONTEXT_BEFORE = 2;
const CONTEXT_AFTER = 10;

export interface ReduceOptions {
  kind: Omit<OutputKind, 'name'>;
  maxChars: number;
  /** Whether the command failed, so that a line in the middle may say why. */
  hasFailed: boolean;
  /** Returns whether a line must stay, however long it is. */
  mustStay: (line: string, at: number) => boolean;
}

/**
 * Keeps the most important lines: failures with the lines around them, then the summary, then the
 * end and the beginning. It says how many lines are left out, and how many of those tell of
 * failures.
 */
export function reduceLines(
  lines: readonly string[],
  { kind, maxChars, hasFailed, mustStay }: ReduceOptions,
): string[] {
  const failing = lines.map(tellsOfFailure);
  const kept = new Uint8Array(lines.length);
  const isRepeated = lines.map((line, at) => at > 0 && line === lines[at - 1]);
  let room = maxChars;
  const keep = (at: number): void => {
    const line = lines[at];
    if (line === undefined || kept[at] === 1 || isRepeated[at] === true || line.length + 1 > room)
      return;
    kept[at] = 1;
    room -= line.length + 1;
  };
  for (const [at, line] of lines.entries()) {
    if (!mustStay(line, at)) continue;
    kept[at] = 1;
    room -= line.length + 1;
  }
  for (const [at] of lines.entries()) if (failing[at] === true) keep(at);
  const near = nearFailures(lines, failing, kind);
  for (const at of near) keep(at);
  for (const [at, line] of lines.entries()) if (kind.summary.test(clip(line))) keep(at);
  for (const [at, line] of lines.entries()) {
    if (warns(clip(line)) && !kind.noise.test(clip(line))) keep(at);
  }
  if (hasFailed) for (const at of unlikeOthers(lines, room / 2)) keep(at);
  // The end says more than the beginning, and noise says nothing.
  const rest = [...lines.keys()].filter((at) => !kind.noise.test(clip(lines[at])));
  const half = room / 2;
  for (let index = rest.length - 1; index >= 0 && room > half; index -= 1) keep(rest[index] ?? 0);
  for (const at of rest) {
    if (room <= 0) break;
    keep(at);
  }
  return assemble(lines, {
    kept,
    failing,
    first: kind.failuresFirst ? new Set(near) : undefined,
  });
}

/** Returns lines that differ from all others by more than numbers, as many as there is room for. */
function unlikeOthers(lines: readonly string[], maxChars: number): number[] {
  const shapes = lines.map((line) => clip(line).replaceAll(/\d+/g, '0').trim());
  const counts = new Map<string, number>();
  for (const shape of shapes) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  let room = maxChars;
  return [...lines.keys()].filter((at) => {
    if (shapes[at] === '' || counts.get(shapes[at] ?? '') !== 1) return false;
    room -= (lines[at]?.length ?? 0) + 1;
    return room > 0;
  });
}

/** Returns the lines that tell of failures, and the lines around them that are not noise. */
function nearFailures(
  lines: readonly string[],
  failing: readonly boolean[],
  { noise }: Omit<OutputKind, 'name'>,
): number[] {
  const near = new Uint8Array(lines.length);
  const mark = (at: number) => {
    if (failing[at] === true || !noise.test(clip(lines[at]))) near[at] = 1;
  };
  let distance = Number.POSITIVE_INFINITY;
  for (const at of lines.keys()) {
    distance = failing[at] === true ? 0 : distance + 1;
    if (distance <= CONTEXT_AFTER) mark(at);
  }
  distance = Number.POSITIVE_INFINITY;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    distance = failing[at] === true ? 0 : distance + 1;
    if (distance <= CONTEXT_BEFORE) mark(at);
  }
  return [...near.keys()].filter((at) => near[at] === 1);
}

function assemble(
  lines: readonly string[],
  {
    kept,
    failing,
    first,
  }: {
    kept: Uint8Array;
    failing: readonly boolean[];
    first: ReadonlySet<number> | undefined;
  },
): string[] {
  const head: string[] = [];
  const tail: string[] = [];
  let left = 0;
  let leftFailing = 0;
  for (const [at, line] of lines.entries()) {
    if (kept[at] !== 1) {
      left += 1;
      if (failing[at] === true) leftFailing += 1;
    } else if (first?.has(at) === true || (at === 0 && first !== undefined)) head.push(line);
    else tail.push(line);
  }
  if (left === 0) return [...lines];
  const order = head.length > 1 && tail.length > 0 ? 'failures first; ' : '';
  const failures = leftFailing === 0 ? '' : `, ${leftFailing} of which tell of failures`;
  return [...head, ...tail, `[${order}${left} of ${lines.length} lines left out${failures}]`];
}
