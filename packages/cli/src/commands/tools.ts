import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';

/** Lists the tools of a personality. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { out } = context;
  const runtime = await context.openRuntime();
  const isAll = hasOption(options, 'all');
  const tools = (await runtime.reach())
    .filter(({ offered }) => isAll || offered)
    .map(({ tool, description, offered, unconfined = false }) => ({
      tool,
      description,
      offered,
      unconfined,
    }));
  if (out.isJson) out.json(tools);
  else {
    out.table(
      tools.map(({ tool, description, offered, unconfined }) => [
        offered ? out.color.bold(safeLine(tool)) : out.color.dim(safeLine(tool)),
        ...(isAll ? [offered ? '' : 'not offered'] : []),
        `${unconfined ? out.color.red('unconfined ') : ''}${safeLine(firstSentence(description), 100)}`,
      ]),
    );
  }
  return EXIT.ok;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
