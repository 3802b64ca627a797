import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const OPTIONS: Options = {
  allErrors: true,
  // A name from the prototype is no property.
  ownProperties: true,
  // A schema may have keywords that mean something to others.
  strict: false,
  // Two tools may give their schemas one `$id`.
  addUsedSchema: false,
  logger: false,
};

const latest = withFormats(new Ajv2020(OPTIONS));
let older: Ajv | undefined;

/** @throws what is wrong with the schema, and for a `$ref` that leads out of it */
export function compile({
  $schema,
  ...schema
}: Readonly<Record<string, unknown>>): ValidateFunction {
  const isOld = typeof $schema === 'string' && /\bdraft-0[4-7]\b/.test($schema);
  const ajv = isOld ? draft07() : latest;
  try {
    return ajv.compile(schema);
  } finally {
    // It would keep every schema that it ever saw.
    ajv.removeSchema(schema);
  }
}

function draft07(): Ajv {
  older ??= withFormats(new Ajv(OPTIONS));
  return older;
}

function withFormats<A extends Ajv>(ajv: A): A {
  // The package is CommonJS, with its function as `default`.
  formats.default(ajv, { mode: 'fast', keywords: false });
  return ajv;
}
