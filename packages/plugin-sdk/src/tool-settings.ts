import { EthosError, type ToolSettings, type ToolSettingsIssue } from '@ethosagent/types';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isStandardSchema, settingsJsonSchemaOf } from './input-schema.js';

/**
 * Makes the settings of a tool from the schema that its author wrote.
 *
 * @throws `TOOL_INVALID` if `schema` is not a Standard Schema of an object, or if it refuses `{}`:
 * a tool must also run when the operator sets nothing
 */
export function toolSettings(toolName: string, schema: StandardSchemaV1): ToolSettings {
  if (!isStandardSchema(schema)) {
    throw new EthosError(
      'TOOL_INVALID',
      `${toolName} has \`settings\` that are not a Standard Schema; see standardschema.dev`,
    );
  }
  const parse: ToolSettings['parse'] = (value) => {
    const result = schema['~standard'].validate(value);
    if (result instanceof Promise) {
      throw new EthosError(
        'TOOL_INVALID',
        `${toolName} has \`settings\` that validate asynchronously; use a schema that answers at once`,
      );
    }
    return result.issues === undefined
      ? { ok: true, settings: result.value }
      : { ok: false, issues: result.issues.map(toIssue) };
  };
  const ofNothing = parse({});
  if (!ofNothing.ok) {
    const [issue] = ofNothing.issues;
    throw new EthosError(
      'TOOL_INVALID',
      `${toolName} has \`settings\` that {} doesn't satisfy (${issue?.path.join('.')}: ${issue?.message}); give each a default or make it optional`,
    );
  }
  return { schema: settingsJsonSchemaOf(toolName, schema), parse };
}

function toIssue({ message, path = [] }: StandardSchemaV1.Issue): ToolSettingsIssue {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return {
    path: keys.map((key) => (typeof key === 'number' ? key : String(key))),
    message,
  };
}
