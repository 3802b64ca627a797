import { ElicitRequestParamsSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { readElicitation } from './asked-by-server.js';

const TEXT = { type: 'string' };
const CONFIRM = { type: 'boolean' };

/** Reads a form with one field, as a server sends it. */
function read(message: string, field: object = TEXT, name = 'answer') {
  const requestedSchema = { type: 'object', properties: { [name]: field } };
  return readElicitation(ElicitRequestParamsSchema.parse({ message, requestedSchema }));
}

describe('readElicitation', () => {
  it.each([
    'Enter your verification code',
    'Enter the security code of your card',
    'Enter the code from your authenticator app',
    'We have sent codes to your phone',
    'Paste your SSH key',
    'Your encryption key?',
    'Your country code and the code of the door',
    'Type your pass\u200bword',
  ])('refuses a message that asks for a secret: %s', (message) => {
    expect(() => read(message)).toThrow(/the message asks for a secret/);
  });

  it.each<[string, object, string?]>([
    ['its name', TEXT, 'ssh_key'],
    ['its name with a number', TEXT, 'code2'],
    ['its name in camel case', TEXT, 'signingKey'],
    ['its title', { ...TEXT, title: 'Code' }],
    ['its description', { type: 'integer', description: 'The six digits of the code' }],
    ['its default', { ...TEXT, default: 'your password here' }],
    ['a choice', { ...TEXT, enum: ['type your password below'] }],
    ['the name of a choice', { ...TEXT, enum: ['a'], enumNames: ['type your password below'] }],
    ['the title of a choice', { ...TEXT, oneOf: [{ const: 'a', title: 'Say your password' }] }],
    [
      'the title of one of many choices',
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'Say your password' }] } },
    ],
  ])('refuses a field that asks for a secret in %s', (_where, field, name) => {
    expect(() => read('Go on', field, name)).toThrow(/asks for a secret/);
  });

  it.each<[string, object?, string?]>([
    ['Where does it go?', TEXT, 'postal_code'],
    ['Your country code, and the zip code', TEXT],
    ['Which issue key?', TEXT, 'projectKey'],
    ['Name the key points of the source code', TEXT],
    ['Which monkey, keyboard or codec?', TEXT],
    // No secret fits into these.
    ['Shall I run this code, and use the key that you gave?', CONFIRM],
    ['What is it about?', { ...TEXT, enum: ['code', 'key'] }],
  ])('shows the user what asks for no secret: %s', (message, field, name) => {
    expect(read(message, field, name)).toMatchObject({ message });
  });
});
