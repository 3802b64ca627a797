/** A variable in a text of mcp.json. */
export type McpVariable =
  /** A fact about the host that is not secret: `workspaceFolder`, `userHome`, … */
  | { kind: 'host'; name: string }
  /** An environment variable or an input in the file. Here, both are secrets. */
  | { kind: 'secret'; name: string; fallback?: string };

/** A text with variables, split into its parts. */
export type McpTemplate = readonly (string | McpVariable)[];

const HOST_VARIABLES: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
  'cwd',
  'pathSeparator',
  '/',
]);
const NAME = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$/;

/** A text split into its parts, or why that is not possible. */
export type TemplateResult = { ok: true; template: McpTemplate } | { ok: false; problem: string };

/**
 * Splits a text into its parts. It knows `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`,
 * and the variables of the host such as `${workspaceFolder}`.
 */
export function parseTemplate(text: string): TemplateResult {
  const template: (string | McpVariable)[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf('${', at);
    const close = open < 0 ? -1 : text.indexOf('}', open);
    if (close < 0) break;
    if (open > at) template.push(text.slice(at, open));
    const variable = parseVariable(text.slice(open + 2, close));
    if (variable === undefined) {
      const shown = text.slice(open, close + 1).slice(0, 80);
      return { ok: false, problem: `${shown} is no variable that is known here` };
    }
    template.push(variable);
    at = close + 1;
  }
  if (at < text.length) template.push(text.slice(at));
  return { ok: true, template };
}

function parseVariable(inside: string): McpVariable | undefined {
  if (HOST_VARIABLES.has(inside)) return { kind: 'host', name: inside };
  const named = /^(?:env:|input:)?([^:]+)(?::-(.*))?$/s.exec(inside);
  const [, name, fallback] = named ?? [];
  if (name === undefined || !NAME.test(name) || name.length > 128) return undefined;
  return { kind: 'secret', name, ...(fallback === undefined ? {} : { fallback }) };
}

/** Returns the names of the secrets in templates, each once. */
export function secretsOf(templates: Iterable<McpTemplate>): string[] {
  const names = new Set<string>();
  for (const template of templates) {
    for (const part of template) {
      if (typeof part !== 'string' && part.kind === 'secret') names.add(part.name);
    }
  }
  return [...names];
}

/** Returns the text of a template. @throws the errors of `resolve` */
export async function expandTemplate(
  template: McpTemplate,
  resolve: (variable: McpVariable) => Promise<string>,
): Promise<string> {
  let text = '';
  for (const part of template) text += typeof part === 'string' ? part : await resolve(part);
  return text;
}
