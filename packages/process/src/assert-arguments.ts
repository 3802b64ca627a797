import { basename } from 'node:path';
import { compileArgumentPolicy } from '@ethosagent/policy';
import { type ArgumentPolicy, CapabilityError, EthosError } from '@ethosagent/types';
import { realOrAsked } from './working-directory.js';

// These programs accept options as their first argument even without a dash.
const OLD_STYLE: ReadonlySet<string> = new Set(['tar', 'bsdtar', 'ar', 'ps']);

/**
 * Checks the arguments of a binary against the personality's rules.
 *
 * @param binary the binary as the call named it
 * @param file the file that `binary` stands for. A rule for a name covers every spelling of it: a
 * path that ends in the name, and a link with this name or to a file with this name
 * @param args the arguments
 * @param policies the rules of the personality, by binary
 * @throws `BINARY_NOT_ALLOWED` for a refused argument; its rule names the pattern
 * @throws `SPAWN_FAILED` for an argument that is not a string or contains NUL
 */
// biome-ignore lint/complexity/useMaxParams: a documented signature
export function assertArguments(
  binary: string,
  file: string,
  args: readonly string[],
  policies: Readonly<Record<string, ArgumentPolicy>> | undefined,
): void {
  const malformed = args.findIndex((arg) => typeof arg !== 'string' || arg.includes('\0'));
  if (malformed >= 0) {
    throw new EthosError('SPAWN_FAILED', `argument ${malformed} is not a string without NUL`);
  }
  if (policies === undefined) return;
  const real = realOrAsked(file);
  const names = new Set([binary, file, real, basename(file), basename(real)]);
  const isOldStyle = args[0]?.startsWith('-') === false && [...names].some((n) => OLD_STYLE.has(n));
  for (const [name, policy] of Object.entries(policies)) {
    if (!names.has(name)) continue;
    const { deny = [] } = policy;
    const refusal =
      compileArgumentPolicy(policy)(args) ??
      (isOldStyle ? compileArgumentPolicy({ deny })([`-${args[0]}`]) : undefined);
    if (refusal === undefined) continue;
    const { position, denied } = refusal;
    const why = denied === undefined ? 'is not among those allowed' : `matches ${quote(denied)}`;
    throw new CapabilityError(
      'BINARY_NOT_ALLOWED',
      `argument ${position} of ${name} ${why}; leave it out, or ask the operator to change safety.process.arguments`,
      `arguments of ${name}: ${denied === undefined ? 'allow' : `deny ${quote(denied)}`}`,
    );
  }
}

function quote(pattern: string): string {
  return JSON.stringify(pattern);
}
