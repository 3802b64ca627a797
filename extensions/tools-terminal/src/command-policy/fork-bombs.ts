import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { wordTexts } from './shell-word.js';

/** The calls in the body of a function. */
export interface Calls {
  /** How often each name is called. */
  times: Map<string, number>;
  inBackground: Set<string>;
}

/** Finds the calls in the body of a function, even in text that it evaluates. */
export function callsOf(body: SyntaxNode): Calls {
  const calls: Calls = { times: new Map(), inBackground: new Set() };
  const look = (node: SyntaxNode, background: boolean, depth: number): void => {
    if (node.type === 'Command' && node.name !== undefined) {
      const [name = '', ...args] = [node.name, ...node.args].flatMap((word) =>
        word.type === 'Word' ? wordTexts(word) : [],
      );
      calls.times.set(name, (calls.times.get(name) ?? 0) + 1);
      if (background) calls.inBackground.add(name);
      if (name === 'eval' && depth < 3) look(parse(args.join(' ')), background, depth + 1);
    }
    const beside =
      background ||
      node.type === 'Pipeline' ||
      node.type === 'Coproc' ||
      (node.type === 'Statement' && node.background === true);
    forEachChild(node, (child) => look(child, beside, depth));
  };
  look(body, false, 0);
  return calls;
}

const MAX_FUNCTIONS = 200;

/**
 * Finds the functions that start themselves more than once or in the background, even through
 * others.
 */
export function forkBombs(bodies: ReadonlyMap<string, Calls>): Set<string> {
  const bombs = new Set<string>();
  if (bodies.size > MAX_FUNCTIONS) return bombs;
  const reaches = new Map([...bodies.keys()].map((name) => [name, reachedFrom(name, bodies)]));
  for (const [name, reached] of reaches) {
    if (!reached.has(name)) continue;
    const ring = [...reached].filter((other) => reaches.get(other)?.has(name));
    const multiplies = ring.some((member) => {
      const calls = bodies.get(member);
      const times = ring.reduce((sum, other) => sum + (calls?.times.get(other) ?? 0), 0);
      return times > 1 || ring.some((other) => calls?.inBackground.has(other));
    });
    if (multiplies) bombs.add(name);
  }
  return bombs;
}

function reachedFrom(name: string, bodies: ReadonlyMap<string, Calls>): Set<string> {
  const reached = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const other of bodies.get(next)?.times.keys() ?? []) {
      if (!bodies.has(other) || reached.has(other)) continue;
      reached.add(other);
      waiting.push(other);
    }
  }
  return reached;
}
