/** Names that other frameworks use for the properties of a tool, and common slips. */
const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    execute: 'handler, handle, run, callback, func, fn, function, invoke, action, exec',
    input: 'inputSchema, inputs, parameters, params, args, argsSchema, arguments, zodSchema',
    schema: 'jsonSchema',
    outputSchema: 'outputJsonSchema, resultSchema, returns',
    unconfined: 'isUnconfined, unconfinedTool',
    idempotent: 'isIdempotent, idempotence',
    returnDirect: 'returnsDirect, returnDirectly',
    defer: 'deferred, deferLoading, isDeferred',
    description: 'desc',
    capabilities: 'capability, permissions',
    toolset: 'toolsets',
    maxResultChars: 'maxResultSize, maxResultLength, maxChars',
    timeoutMs: 'timeout, timeoutSeconds',
    isAvailable: 'available',
    alwaysInclude: 'alwaysIncluded',
    outputIsUntrusted:
      'untrusted, isUntrusted, untrustedOutput, outputUntrusted, outputsAreUntrusted',
    effects: 'effect, sideEffects',
    supportsDryRun: 'dryRun, supportDryRun',
    requiresApproval:
      'needsApproval, needApproval, requireApproval, requiredApproval, requiresConfirmation',
    settings: 'setting, settingsSchema',
  }).flatMap(([meant, others]) =>
    [meant, ...others.split(', ')].map((name) => [plain(name), meant] as const),
  ),
);

/**
 * The properties of a tool whose names are near to a real one that is absent: `inputSchema` for
 * `input`, `needsApproval` for `requiresApproval`. `defineTool` and the registry
 * refuse a tool that has one, as `TOOL_INVALID`.
 *
 * @param definition the tool, or its definition
 * @returns for each such property, what is wrong and how to put it right
 */
export function misnamedToolProperties(definition: object): string[] {
  const has = (name: string) => Reflect.get(definition, name) !== undefined;
  return Object.keys(definition).flatMap((given) => {
    const meant = MEANT.get(plain(given));
    if (meant === undefined || given === meant || has(meant)) return [];
    if (meant !== 'input' && meant !== 'schema') {
      return [`\`${given}\` is no property of a tool; write \`${meant}\``];
    }
    if (has('input') || has('schema')) return [];
    return [
      `\`${given}\` is no property of a tool; write \`input\` for a Standard Schema such as one of Zod, with defineTool, or \`schema\` for JSON Schema`,
    ];
  });
}

/** Removes the separators between words: `input_schema` and `inputSchema` become the same. */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}
