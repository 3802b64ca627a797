/**
 * Phrases that a reader stumbles over. A rule says what to write, and shows it: `bad` is a sentence
 * that it finds, and `good` is the same sentence mended.
 */
export const PROSE_RULES = [
  {
    phrase: /\bha(?:s|ve) no say\b/i,
    write: 'what is ignored, or who decides',
    bad: 'It is told; it has no say.',
    good: 'Listeners are notified; what they throw is ignored.',
  },
  {
    phrase: /\bby now\b/i,
    write: '"now", "no longer" or "already"',
    bad: 'the file of the personality is wrong by now',
    good: 'personalities/coder/config.yaml is no longer valid (line 4)',
  },
  {
    phrase: /\bmend(?:s|ed)?\b/i,
    write: '"fix", "correct" or "repair", and who does it',
    bad: 'ask the operator to mend it',
    good: 'The operator has to fix it before calls can run.',
  },
  {
    phrase: /\bthat (?:is|are) none\b/i,
    write: '"invalid", "no valid …", or what it must be',
    bad: 'a price that is none',
    good: 'prices.input must be a non-negative number',
  },
  {
    phrase: /\bends with that, and that with it\b/i,
    write: 'what ends when',
    bad: 'it ends with that, and that with it',
    good: 'The process ends when its output closes, and its output closes when the process ends.',
  },
  {
    phrase: /\bwhat (?:is|was) over before\b/i,
    write: 'what was aborted, or had ended',
    bad: 'What was over before its first hop was judged',
    good: 'A request that was aborted before its first hop was checked',
  },
  {
    phrase: /\b(?:sees?|saw) to\b/i,
    write: 'the verb: install, check, keep',
    bad: 'Both see to the programs that they run beside Node.',
    good: 'Both commands install the system programs that they need.',
  },
  {
    phrase: /[.:;] So (?:is|are|was|were|do|does|did|has|have) /,
    write: 'the whole sentence, with its verb',
    bad: 'The text is read. So is it from the rest of a body.',
    good: 'The text is read, and so is the rest of the body.',
  },
  {
    phrase: /\b(?:but|save) for\b/i,
    write: '"except for"',
    bad: 'what is missing is made, but for the personalities',
    good: 'what is missing is created, except for the personalities',
  },
  {
    phrase: /\bparted by\b/i,
    write: '"separated by"',
    bad: 'segments of letters, parted by /',
    good: 'segments of letters, separated by /',
  },
  {
    phrase: /\bin (?:the )?place of\b/i,
    write: '"instead of"; or "replaces"',
    bad: 'puts a link in the place of the root',
    good: 'replaces the root by a link',
  },
  {
    phrase: /\bfor want of\b/i,
    write: '"because there is no"',
    bad: 'A write that fails for want of space counts.',
    good: 'A write that fails because there is no space counts.',
  },
  {
    phrase: /\bdear to \w+/i,
    write: '"expensive to", or "slow to"',
    bad: 'The parser is dear to load.',
    good: 'The parser is expensive to load.',
  },
  {
    phrase: /\bnobody sits\b/i,
    write: '"without a terminal"',
    bad: 'Where nobody sits there, the call waits.',
    good: 'Without a terminal, the call waits.',
  },
  {
    phrase: /\b(?:would|will|may) have it that\b|\bwhat (?:it|he|they) goe?s? by\b/i,
    write: 'who decides, and by what',
    bad: 'What it goes by is the content.',
    good: 'The content decides.',
  },
  {
    phrase: /\b(?:in vain|of its own accord|in its turn|goes without saying)\b/i,
    write: 'what happens, in common words',
    bad: 'The other one waits in vain.',
    good: 'The other one waits, and nothing happens.',
  },
  {
    phrase: /\b(?:thereof|therein|wherein|whereof|whereby|hence|thus|lest|albeit)\b/i,
    write: 'the common word',
    bad: 'the folder and the contents thereof',
    good: 'the folder and its contents',
  },
  {
    phrase:
      /\b(?:in order to|utili[sz]e[sd]?|leverag(?:e|es|ing)|seamless(?:ly)?|effortless(?:ly)?|blazing(?:ly)?|cutting-edge|world-class)\b/i,
    write: 'the common word, or nothing',
    bad: 'Utilize this in order to start.',
    good: 'Use this to start.',
  },
];
