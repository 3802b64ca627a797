import { describe, expect, it } from 'vitest';
import { notesOf, relevantNotes } from './relevant-notes.js';

it.each<[string, string[]]>([
  ['', []],
  ['one\ntwo\n\nthree', ['one\ntwo', 'three']],
  ['one\n\n\n \ntwo\n', ['one', 'two']],
  ['```sh\na\n\nb\n```\n\nc', ['```sh\na\n\nb\n```', 'c']],
  ['````\n```\n\nx\n````\n\ny', ['````\n```\n\nx\n````', 'y']],
  ['~~~\nopen\n\nend', ['~~~\nopen\n\nend']],
])('notesOf %j are %j', (text, notes) => expect(notesOf(text)).toEqual(notes));

describe('relevantNotes', () => {
  const sections = [
    { heading: 'Deploying', text: 'On Fridays nobody does.\n\nThe port is 8080.' },
    { heading: 'Tea', text: 'Green.' },
    { heading: '', text: 'Whoever deploys on a Friday brings cake.' },
  ];
  it.each<[string, string[]]>([
    [
      'when do we deploy on Friday',
      ['On Fridays nobody does.', 'Whoever deploys on a Friday brings cake.', 'The port is 8080.'],
    ],
    ['"8080"', ['The port is 8080.']],
    ['tea', ['Green.']],
    ['coffee', []],
  ])('of %j are %j', (query, texts) => {
    expect(relevantNotes(sections, query).map(({ text }) => text)).toEqual(texts);
  });
});
