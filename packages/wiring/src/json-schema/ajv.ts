import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const OPTIONS: Options = {
  allErrors: true,
  // A name that comes from the prototype is not a property.
  ownProperties: true,
  // A schema may have keywords for other programs.
  strict: false,
  // The schemas of two tools may have the same `$id`.
  addUsedSchema: false,
  logger: false,
};

const latest = withFormats(new Ajv2020(OPTIONS));
let older: Ajv | undefined;

/** @throws an error for an invalid schema, and for a `$ref` that leads out of it */
export function compile({
  $schema,
  ...schema
}: Readonly<Record<string, unknown>>): ValidateFunction {
  const isOld = typeof $schema === 'string' && /\bdraft-0[4-7]\b/.test($schema);
  const ajv = isOld ? draft07() : latest;
  try {
    return ajv.compile(schema);
  } finally {
    // Otherwise Ajv would keep every schema that it has ever compiled.
    ajv.removeSchema(schema);
  }
}

function draft07(): Ajv {
  older ??= withFormats(new Ajv(OPTIONS));
  return older;
}

function withFormats<A extends Ajv>(ajv: A): A {
  // The package is CommonJS, and exports its function as `default`.
  formats.default(ajv, { mode: 'fast', keywords: false });
  return ajv;
}
