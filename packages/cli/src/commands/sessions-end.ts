import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';

/** Removes a session with its messages. Exits with 1 if it did not exist. */
export async function run({ context, args: [id = ''] }: CommandInput): Promise<number> {
  const { out } = context;
  const runtime = await context.openRuntime({ personality: await context.anyPersonalityId() });
  await runtime.endSession(id);
  const removed = await runtime.sessions.delete(id);
  if (out.isJson) out.json({ session: id, removed });
  else out.line(removed ? `removed ${safeLine(id)}` : `there is no session ${safeLine(id)}`);
  return removed ? EXIT.ok : EXIT.found;
}
