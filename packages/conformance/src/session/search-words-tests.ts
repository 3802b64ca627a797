import { expect, it } from 'vitest';
import { ownerOf, type SessionWorld, user } from './session-world.js';

/** Which query finds which text. */
export function searchWordsTests(w: SessionWorld): void {
  it.each<[string, string, boolean]>([
    ['coffee', 'Coffee, black.', true],
    ['COFFEE', 'coffee', true],
    ['coffee', 'coffees', true],
    ['"coffee"', 'coffees', false],
    ['coffees', 'coffee', true],
    ['the migrated table', 'We migrate tables.', true],
    ['how do I brew it', 'how do I do it', false],
    ['what is the coffee like', 'Coffee.', true],
    ["the kettle's lid", 'A kettle has a lid.', true],
    ['text chars', 'set maxTextChars to 5', true],
    ['maxTextChars', 'set maxTextChars to 5', true],
    ['text_chars', 'set maxTextChars to 5', false],
    ['cof', 'coffee', false],
    ['cafe', 'Le café', true],
    ['café', 'cafe\u0301', true],
    ['łodz', 'Łódź', true],
    ['straße', 'Straße', true],
    ['σοφος', 'ΣΟΦΌΣ', true],
    ['привет', 'ПРИВЕТ, мир', true],
    ['東京', '私は東京都に住む', true],
    ['京東', '私は東京都に住む', false],
    ['한국', '한국 사람', true],
    ['42', 'The answer is 42.', true],
    ['max_tokens', 'set max_tokens=5', true],
    ['max_tokens', 'tokens max', false],
    ['foo.bar()', 'call foo.bar(1)', true],
    ['"black coffee"', 'black coffee', true],
    ['"black coffee"', 'coffee, black', false],
    ['"black coffee" sugar', 'sugar in black coffee', true],
    ['black coffee', 'coffee, black', true],
    ['🙂', '🙂', false],
    ['and', 'this and that', true],
    ['near', 'near here', true],
  ])('by %j of %j is %j', async (query, text, isFound) => {
    const session = w.fresh();
    await w.store.append(session, [user(text)]);
    expect(await w.textsOf(query, { owner: ownerOf(session) })).toEqual(isFound ? [text] : []);
  });
}
