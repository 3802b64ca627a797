import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT, readManifest } from './packages.js';

interface Step {
  uses?: string;
  run?: string;
}
interface Job {
  permissions?: Record<string, string>;
  environment?: string;
  steps: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const FOLDER = join(ROOT, '.github', 'workflows');
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
const { scripts } = readManifest('.');

/** What a stranger could do by a pull request, a branch name or a changed action. */
function dangersOf(text: string): string[] {
  const { on, permissions = {}, jobs }: Workflow = parse(text);
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const runs = steps.flatMap(({ run = '' }) => run);
  const signing = Object.values(jobs).filter((job) => job.permissions?.['id-token'] === 'write');
  return [
    ...('pull_request_target' in on
      ? ['runs a stranger’s code with the rights of the repository']
      : []),
    ...(JSON.stringify(permissions) === '{"contents":"read"}'
      ? []
      : ['may more than read by default']),
    ...runs
      .filter((run) => run.includes('${{'))
      .map((run) => `puts an expression into a shell: ${run}`),
    ...steps
      .flatMap(({ uses }) => uses ?? [])
      .filter((uses) => !/^(?:actions|github)\/[\w/-]+@v\d+$/.test(uses))
      .map((uses) => `uses ${uses}`),
    ...signing
      .filter((job) => job.environment === undefined)
      .map(() => 'signs without an environment that a person approves'),
    ...signing
      .filter((job) =>
        job.steps.some(
          ({ uses, run = '' }) =>
            uses?.startsWith('actions/cache') ||
            (run.includes(' install ') && !run.includes('--ignore-scripts')),
        ),
      )
      .map(() => 'signs beside code that others wrote'),
  ];
}

describe('the workflows', () => {
  const files = readdirSync(FOLDER);

  it.each(files)('%s gives a stranger nothing', (file) => {
    expect(dangersOf(read(file))).toEqual([]);
  });

  it.each(files)('%s runs scripts that are there', (file) => {
    const named = [...read(file).matchAll(/(?:pnpm(?:@[\d.]+)? run|\.ci\/run) ([\w:-]+)/g)];
    const missing = named
      .map(([, name = '']) => name)
      .filter((name) => !Object.hasOwn(Object(scripts), name));
    expect(missing).toEqual([]);
  });

  it.each([
    ['a stranger’s code', 'on: { pull_request_target: }'],
    ['more than read', 'permissions: write-all'],
    [
      'a branch name in a shell',
      'jobs: { a: { steps: [{ run: "echo ${{ github.head_ref }}" }] } }',
    ],
    ['an action of somebody', 'jobs: { a: { steps: [{ uses: some/body@v1 }] } }'],
    ['an action of a branch', 'jobs: { a: { steps: [{ uses: actions/checkout@main }] } }'],
    [
      'a signature that nobody approves',
      'jobs: { a: { permissions: { id-token: write }, steps: [] } }',
    ],
    [
      'scripts of dependencies beside a signature',
      'jobs: { a: { environment: npm, permissions: { id-token: write }, steps: [{ run: pnpm install --frozen-lockfile }] } }',
    ],
  ])('would not pass with %s', (_, part) => {
    const harmless = { on: { push: {} }, permissions: { contents: 'read' }, jobs: {} };
    expect(dangersOf(JSON.stringify(harmless))).toEqual([]);
    expect(dangersOf(JSON.stringify({ ...harmless, ...parse(part) }))).toHaveLength(1);
  });

  it('have forms for issues that are well-formed, and send reports of holes elsewhere', () => {
    const folder = join(ROOT, '.github', 'ISSUE_TEMPLATE');
    const forms = readdirSync(folder).filter((file) => file !== 'config.yml');
    for (const file of forms) {
      const { name, description, body } = parse(readFileSync(join(folder, file), 'utf8'));
      expect([name, description].every((text) => typeof text === 'string' && text !== '')).toBe(
        true,
      );
      const ids = body
        .filter(({ type }: { type: string }) => type !== 'markdown')
        .map(({ id }: { id: string }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
    expect(readFileSync(join(folder, 'bug.yml'), 'utf8')).toContain('SECURITY.md');
    const asked = readFileSync(join(ROOT, '.github', 'pull_request_template.md'), 'utf8');
    expect(asked).toMatch(/^## The attack$/m);
  });
});
