import { withoutFillers } from './lookalikes.js';

const TOOL_TAGS = [
  'tool_(?:calls?|responses?|results?|outputs?|use|code)',
  'function_(?:calls?|results?|responses?)',
  'think(?:ing)?',
  'tools',
  'invoke',
  'system-reminder',
].join('|');

/**
 * Tokens in angle brackets, without the opening bracket. Tokens that also occur in honest markup
 * are left out.
 */
const ANGLE = [
  // ChatML and Qwen, Llama 3 and 4, Phi, Granite, Cohere, GLM, Kimi, Harmony; DeepSeek after its
  // lookalikes are folded. No name contains a `(`: a bracket that was replaced by `(` must not
  // become part of another token.
  '\\|(?=[^\\s<>|(]{0,80}[\\p{L}\\p{N}])[^\\s<>|(]{1,80}\\|>',
  // Gemma 4 has the bar on one side only, and a quote between two bars.
  '\\|(?:[a-z_]{3,40}|"\\|)>',
  '[a-z_]{3,40}\\|>',
  // Llama 2 and Mistral.
  '</?SYS>>',
  // Llama 2, Mistral, Gemma, GLM, InternLM.
  '/?(?:bos|eos|unk|pad|sop|eop|eoh|eoa|eod)>',
  // Gemma 1 to 3, FunctionGemma, MiniMax.
  '/?(?:start|end|begin|beginning)_of_(?:turn|text|sentence|document|message|utterance|image|audio)>',
  '/?(?:start|end)_function_(?:call|declaration|response)>',
  // StarCoder, Cohere, Nemotron, Baichuan, TeleChat.
  '(?:fim_[a-z]{1,20}|file_sep)>',
  '(?:BOS|EOS|PAD|UNK|CLS|SEP|MASK)_TOKEN>',
  '(?:unused|reserved_|SPECIAL_|extra_id_|TOKENS_UNUSED_)[0-9]{1,4}>',
  '_(?:system|user|bot|end|start)>',
  // Calls of tools and their answers: Hermes, Qwen, Anthropic, Seed and formats like theirs.
  `/?(?:[a-z]{1,20}:)?(?:${TOOL_TAGS})(?=[\\s/>])`,
  '/?(?:antml|minimax|seed):[a-z_]',
  '(?:function|parameter)=[\\w.:-]{1,80}>',
  // Ling and Ring.
  'role>\\s{0,8}(?:HUMAN|SYSTEM|ASSISTANT|OBSERVATION)\\b',
].join('|');

/**
 * Tokens in square brackets, without the opening bracket: Mistral and Llama 2, GLM, MiniMax, and
 * others.
 */
const SQUARE = [
  '/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS|CALL_ID|THINK|gMASK|sMASK)\\]',
  'ARGS\\]\\s{0,8}\\{',
  '(?:IMG(?:_BREAK|_END)?|BEGIN_AUDIO|AUDIO|PREFIX|MIDDLE|SUFFIX)\\]',
  // InternLM, and EXAONE.
  'UNUSED_TOKEN_[0-9]{1,4}\\]',
  '\\|[a-z_]{2,40}\\|\\]',
  'e~\\[',
].join('|');

const TOKEN = new RegExp(`<(?=${ANGLE})|\\[(?=${SQUARE})|\\](?=~!?b[[\\]])`, 'giu');
// `<S>` with a capital is a type in many languages.
const SENTENCE = /<(?=\/?s>)/g;

/**
 * Finds the tokens that mark roles, turns and tool calls in the common model families.
 *
 * @param folded as `foldLookalikes` gave it
 * @returns the indexes in `folded` at which they begin
 */
export function* modelTokens(folded: string): Generator<number> {
  const { text, placeOf } = withoutFillers(folded);
  for (const { index } of text.matchAll(TOKEN)) yield placeOf(index);
  for (const { index } of text.matchAll(SENTENCE)) yield placeOf(index);
}

const LINE = '[\\n\\r\\u2028\\u2029]';
const SPACES = '(?:[^\\S\\n\\r\\u2028\\u2029]|\\u2800)*';
const ROLE_LINE = new RegExp(
  [
    // Anthropic: a role after an empty line, or at the start of the text.
    `(?:Human|Assistant)(?=:)(?<=(?:^|(?:^|\\n|\\r(?!\\n)|[\\u2028\\u2029])${SPACES}(?:\\r\\n|${LINE}))${SPACES}(?:Human|Assistant))`,
    // Alpaca and Vicuna.
    `(?<=(?:^|${LINE})### ?)(?:Human|Assistant|Instruction)(?=:)`,
  ].join('|'),
  'gu',
);

/**
 * Finds the colons that make a line the beginning of somebody's turn.
 *
 * @param folded as `foldLookalikes` gave it
 * @returns indexes in `folded`, each after its colon
 */
export function* roleColons(folded: string): Generator<number> {
  const { text, placeOf } = withoutFillers(folded);
  for (const match of text.matchAll(ROLE_LINE)) yield placeOf(match.index + match[0].length);
}
