import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyAuditLog } from '@ethosagent/core';
import type { ToolCall, ToolCallResult } from '@ethosagent/types';
import { verifyRuntimeAudit } from '@ethosagent/wiring';
import type { Servers } from './servers.js';
import type { World } from './world.js';

/** Collects what went wrong; each kind of it with its first example. */
export class Findings {
  readonly #found = new Map<string, { count: number; example: string }>();

  add(what: string, example = ''): void {
    const known = this.#found.get(what);
    if (known === undefined) this.#found.set(what, { count: 1, example: example.slice(0, 500) });
    else known.count += 1;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  lines(): string[] {
    return [...this.#found].map(([what, { count, example }]) => `${what} (${count}): ${example}`);
  }
}

/** Checks the answers of a batch, and what its tools said meanwhile. */
export function checkBatch(
  findings: Findings,
  world: World,
  batch: {
    /** The canary of the session. */
    own: string;
    calls: readonly ToolCall[];
    results: readonly ToolCallResult[];
    said: string;
  },
): void {
  const { own, calls, results, said } = batch;
  if (results.length !== calls.length) {
    findings.add('a batch with another number of answers', `${results.length} of ${calls.length}`);
  }
  for (const [index, { toolCallId, name }] of calls.entries()) {
    const answer = results[index];
    if (answer?.toolCallId !== toolCallId || answer.name !== name) {
      findings.add('an answer out of order', `${name}: ${JSON.stringify(answer)}`);
    }
    const isShaped =
      answer?.result.ok === true
        ? typeof answer.result.value === 'string'
        : answer?.result.ok === false && typeof answer.result.error === 'string';
    if (!isShaped) findings.add('an answer without a shape', `${name}: ${JSON.stringify(answer)}`);
  }
  const text = `${JSON.stringify(results)}\n${said}`;
  for (const form of secretForms(world.secret)) {
    if (text.includes(form)) findings.add('the secret in an answer or an event', text);
  }
  if (text.includes(world.outsideCanary)) findings.add('a file from outside in an answer', text);
  if (text.includes('CANARY')) findings.add('the canary server in an answer', text);
  for (const { canary } of world.sessions) {
    if (canary !== own && text.includes(canary)) findings.add('another session in an answer', text);
  }
}

/** Checks what must hold at any time. */
export function checkWorld(findings: Findings, world: World, servers: Servers): void {
  const connections = servers.canaryConnections();
  if (connections > 0) findings.add('connections to the canary server', `${connections}`);
  const names = readdirSync(world.outside);
  const content = readFileSync(join(world.outside, 'canary.txt'), 'utf8');
  if (names.length !== 1 || content !== world.outsideCanary) {
    findings.add('something changed outside of the reach', names.join(' '));
  }
  if (Object.hasOwn(Object.prototype, 'polluted')) findings.add('a polluted prototype');
}

/** Checks the audit logs, once they are closed. */
export async function checkAudit(findings: Findings, world: World): Promise<number> {
  let events = 0;
  const own = join(world.base, 'own-audit');
  for (const [path, verify] of [
    [join(world.home, 'audit'), () => verifyRuntimeAudit(world.home)],
    [own, () => verifyAuditLog({ path: own })],
  ] as const) {
    if (!isThere(path)) continue;
    const report = await verify();
    events += report.events;
    if (!report.ok)
      findings.add('an audit log that does not verify', JSON.stringify(report.problems));
    for (const name of readdirSync(path)) {
      const text = readFileSync(join(path, name), 'utf8');
      if (secretForms(world.secret).some((form) => text.includes(form))) {
        findings.add('the secret in an audit log', name);
      }
    }
  }
  if (events === 0) findings.add('no audit log at all');
  return events;
}

function isThere(path: string): boolean {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
}

function secretForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(secret),
  ];
}
