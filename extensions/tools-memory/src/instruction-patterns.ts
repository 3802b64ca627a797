/** Matches up to `most` words of a word stream, each with the space after it. */
const words = (most: number) => `(?:[^ :@]+ ){0,${most}}`;
/** Matches as `words` does, but never across the end of a sentence. */
const within = (most: number) => `(?:[^ :@.]+ ){0,${most}}`;

const IGNORE =
  '(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?|neglect|discard|drop|cancel|(?:do not|don.?t|stop) (?:follow(?:ing)?|obey(?:ing)?))';
const EARLIER =
  '(?:previous|prior|above|earlier|preceding|foregoing|former|past|original|initial|your|system|safety|developer.?s?|these)';
const ORDERS =
  '(?:instructions?|prompts?|rules|guidelines?|guidance|directions|policies|directives?|constraints?|restrictions?|guardrails?|safeguards?|orders|commands|programming|training|context|messages?|conversations?)';
const CLEAR_ORDERS =
  '(?:instructions?|prompts?|guidelines|guidance|directives?|guardrails?|safeguards?)';
const SELF =
  '(?:ai|assistant|model|chatbot|agent|administrator|admin|hacker|root|dan|persona|character|system)';
const PRIVATE =
  '(?:secrets?|credentials?|passwords?|api ?keys?|tokens?|private keys?|env(?:ironment)? variables?|conversations?|chat history|memory|memories|session history|(?:your|private|secret|hidden|user.?s) files?)';

/**
 * Phrases with which a text tries to command a model against its user. They match a word stream of
 * folded text.
 */
const PHRASES: readonly (readonly [what: string, pattern: string])[] = [
  ['an order to ignore instructions', `${IGNORE} ${words(3)}${EARLIER} ${words(3)}${ORDERS} `],
  [
    'an order to ignore instructions',
    `${IGNORE} ${words(1)}(?:all|any|every) ${words(1)}${CLEAR_ORDERS} `,
  ],
  [
    'an order to ignore instructions',
    `${IGNORE} ${words(2)}(?:everything|all|anything) ${words(5)}(?:above|before|so far|told|said) `,
  ],
  [
    'an order to ignore instructions',
    `${IGNORE} ${words(3)}(?:${CLEAR_ORDERS}|rules|orders|commands) (?:from |given |that (?:are|were|came|stand) )?(?:above|earlier) `,
  ],
  [
    'an order to ignore instructions',
    `${IGNORE} ${words(2)}(?:what|whatever) you(?: were| have been|.ve been) ${words(1)}(?:told|given|taught|instructed) `,
  ],
  [
    'a claim that all is approved',
    `(?:user|owner|operator|human|administrator|admin) (?:has |have |had )?(?:already )?(?:pre ?)?(?:approved|authori[sz]ed|granted|allowed|permitted) (?:all|every|any|each) ${words(3)}(?:commands?|actions?|tools?|calls?|requests?|permissions?|operations?|access) `,
  ],
  [
    'a new role for the model',
    `you(?: are|'re|’re) (?:now|henceforth|from now on) (?:(?:a|an|the) ${words(3)}${SELF} |(?:acting|operating|running|free|no longer|jailbroken|unrestricted|unfiltered|dan|not bound|in ${words(2)}mode) )`,
  ],
  [
    'a new role for the model',
    'from now on (?:you are|act as|pretend|roleplay|obey|ignore|disregard|you (?:will|must|shall) (?:obey|ignore|disregard|pretend|act as)) ',
  ],
  ['a new role for the model', '(?:dan|jailbreak|unrestricted|unfiltered) mode '],
  [
    'new instructions',
    '(?:new|updated|revised|real|actual|important|secret|hidden|urgent) (?:(?:system|new|high|priority) ){0,2}(?:instructions?|prompt|directives?|orders?) (?:(?:for|to) (?:[^ :@]+ ){0,2}(?:you|ai|llms?|assistants?|models?|agents?|chatbots?|bots?) )?: ',
  ],
  ['new instructions', '(?:obey|comply with|follow|execute) only (?:these|the following|this|my) '],
  [
    'new instructions',
    `(?:obey|follow|execute|comply with) ${words(3)}(?:instructions?|commands?|orders?) ${words(2)}instead `,
  ],
  [
    'a request for the system prompt',
    `(?:reveal|print|repeat|show|output|leak|disclose|display|recite|tell (?:me|us)) ${words(4)}(?:system prompt |(?:your|the) (?:initial|original|hidden|secret|system|full) ${words(1)}(?:instructions?|prompt|message) )`,
  ],
  [
    'an order to send secrets away',
    `(?:send|post|upload|forward|exfiltrate|e ?mail|transmit|leak|copy|submit|curl) ${within(6)}${PRIVATE} ${within(6)}(?:to|at|via) ${within(4)}(?:https? :|www |[^ .]+ @|attacker |webhook )`,
  ],
  [
    'an order to hide something from the user',
    `(?:do not|don.?t|never|must not|without) (?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|warn(?:ing)?) ${within(4)}(?:the|your) (?:user|human|operator|owner) (?!(?:ids?|names?|tables?|schemas?|interfaces?|data|accounts?|agents?|stor(?:y|ies)|guides?|manuals?|fields?|columns?|inputs?|groups?) )`,
  ],
  [
    'an order to hide something from the user',
    `without ${within(1)}(?:user|operator|human)(?:.s)? ${within(1)}(?:knowledge|consent|permission|approval|noticing|knowing) `,
  ],
  [
    'an order to drop safeguards',
    `(?:disable|turn off|switch off|remove|bypass|deactivate|ignore|circumvent) ${words(2)}your ${words(2)}(?:safety|security|content|ethics|ethical|filters?|guardrails?|safeguards?|restrictions?|limits?|limitations?|approvals?) `,
  ],
];

const part = (stem: string) => `(?:${stem})[^ :@]*`;

/** The same in other languages. They match a word stream of text that keeps its accents. */
const PHRASES_ELSEWHERE: readonly string[] = [
  // German, French, Spanish, Italian, Portuguese, Dutch.
  `${part('ignorier|vergiss|vergesst|missacht|verwirf')} ${words(4)}${part('vorherig|vorig|bisherig|obig|früher|vorangegangen|ursprünglich|deine|alle|ihre')} ${words(2)}${part('anweisung|anleitung|instruktion|regeln|vorgaben|befehle|prompt')} `,
  `(?:ignore[zr]?|oublie[zr]?) ${words(4)}(?:instructions?|consignes?|directives?|règles) ${words(1)}${part('précédent|antérieur|ci|initial')} `,
  `(?:ignora|ignore|ignorad|olvida|olvide) ${words(4)}(?:instrucciones|reglas|indicaciones|órdenes) ${words(1)}${part('anterior|previ|inicial|original')} `,
  `(?:ignora|ignorate|dimentica|dimenticate) ${words(4)}(?:istruzioni|regole|indicazioni) ${words(1)}${part('precedent|anterior|inizial')} `,
  `(?:ignore|ignora|esqueça|desconsidere) ${words(4)}(?:instruções|regras|ordens) ${words(1)}${part('anterior|prévi|inicia')} `,
  `(?:negeer|vergeet) ${words(3)}(?:vorige|eerdere|bovenstaande|voorgaande|alle) ${words(1)}(?:instructies|opdrachten|regels) `,
  // Russian.
  `${part('игнорируй|проигнорируй|забудь')} ${words(3)}${part('предыдущ|прежн|прошл|вышеуказанн')} ${words(1)}${part('инструкц|указан|правил|команд')} `,
];

/** The same in languages that write no spaces between words. They match plain text. */
const PHRASES_WITHOUT_SPACES: readonly string[] = [
  '(?:忽略|无视|忘记|忘掉|忽視|無視)[^。]{0,8}(?:之前|以上|先前|前面|上述|所有|此前)[^。]{0,8}(?:指令|指示|说明|說明|提示|规则|規則|命令)',
  '(?:以前|これまで|上記|前|すべて)の[^。]{0,8}(?:指示|命令|プロンプト|ルール)[^。]{0,4}(?:無視|忘れ)',
  '(?:이전|위의|앞의|모든)[^.]{0,10}(?:지시|명령|지침|프롬프트)[^.]{0,6}(?:무시|잊)',
];

const TOOLS =
  'tool_?(?:calls?|use|results?|responses?|outputs?|code)|function_?(?:calls?|results?|responses?)|invoke|antml:\\w+|parameter(?= name=)';

/** The markup of chat templates and tool calls. They match folded text. */
const MARKUP: readonly (readonly [what: string, pattern: string])[] = [
  ['a chat-template token', '<\\|[^\\s<>|]{1,80}\\|>|<\\|(?:[a-z_]{3,40}|"\\|)>'],
  [
    'a chat-template token',
    '\\[/?(?:inst|system_prompt|available_tools|tool_calls|tool_results|tool_content|gmask|smask)\\]|<{2}/?sys>{2}',
  ],
  [
    'a chat-template token',
    '</?(?:bos|eos|unk)>|</?(?:start|end|begin|beginning)_of_(?:turn|text|sentence|message)>',
  ],
  [
    'tool-call markup',
    `</?(?:[a-z]{1,20}:)?(?:${TOOLS})(?=[\\s/>])[^<>]{0,200}>|<(?:function|parameter)=[\\w.:-]{1,80}>`,
  ],
  [
    'tool-call markup',
    '"(?:tool_calls?|function_call|tool_use)"\\s{0,4}:|"type"\\s{0,4}:\\s{0,4}"(?:tool_use|tool_result|function_call)"',
  ],
  [
    'a role marker',
    '</?(?:system|assistant|developer|human|untrusted|system[-_ ](?:prompt|reminder|message|instructions?)|instructions?)(?:\\s[^<>]{0,200})?>',
  ],
  ['a role marker', '"role"\\s{0,4}:\\s{0,4}"(?:system|developer|assistant|tool)"'],
  [
    'a role marker',
    '^[^\\S\\n]{0,20}(?:#{1,6}[^\\S\\n]{0,4}(?:human|assistant|ai assistant)|human|ai assistant)[^\\S\\n]{0,4}:',
  ],
  // Only a line that speaks as an assistant does. Notes about "assistant: Anna" are not meant.
  [
    'a role marker',
    '^[^\\S\\n]{0,20}assistant[^\\S\\n]{0,4}:[^\\S\\n]{0,4}(?:i\\b|you\\b|your\\b|sure\\b|yes\\b|no\\b|ok(?:ay)?\\b|certainly\\b|of course\\b|understood\\b|done\\b|ignore|always\\b|never\\b|<|\\n|$)',
  ],
  [
    'a note that is addressed to the model',
    '^[^\\p{L}\\n]{0,20}(?:note|notice|message|memo|reminder|attention|important|instructions?)[^\\S\\n](?:to|for)[^\\S\\n](?:the |any |all |whatever |every )?(?:ai|llm|language model|assistant|chatbot|ai (?:agent|assistant|model)|model)s?[^\\S\\n]{0,4}[:,]',
  ],
  [
    'a role marker',
    '^[^\\S\\n]{0,20}(?:#{1,6}[^\\S\\n]{0,4})(?:instructions?|response|system|user|input)[^\\S\\n]{0,4}:',
  ],
  [
    'a role marker',
    '^[^\\S\\n]{0,20}(?:\\[?(?:system|developer|admin(?:istrator)?)(?: (?:message|prompt|override|note|notice|alert))?\\]?)[^\\S\\n]{0,4}[:>\\]][^\\p{L}\\p{N}\\n]{0,4}(?:you\\b|your\\b|ignore|disregard|override|forget|obey|new (?:instructions?|rules?|orders?|prompt|role|task|directives?|polic(?:y|ies))\\b|from now on|the (?:user|assistant|model|ai)\\b|always (?!on\\b|off\\b|up\\b)|never (?!reboot|restart|updated?\\b|sleeps?\\b|down\\b|off\\b)|do not\\b|must\\b|instructions?|all (?:previous|prior|safety|restrictions?|rules|commands|tools|requests|users?)\\b|(?:grant|approve|execute|comply|pretend|bypass|disable|reveal|delete|send|allow|act as)\\b)',
  ],
];

type Patterns = readonly (readonly [what: string, pattern: RegExp])[];

const phrase = (pattern: string) => new RegExp(`(?<=^| )${pattern}`, 'gu');
const ignoring = 'an order to ignore instructions';

/** Patterns for word streams of folded text. */
export const PHRASE_PATTERNS: Patterns = PHRASES.map(([what, pattern]) => [what, phrase(pattern)]);

/** Patterns for word streams of text that is not folded. */
export const FOREIGN_PATTERNS: Patterns = PHRASES_ELSEWHERE.map((one) => [ignoring, phrase(one)]);

/** Patterns for folded text. */
export const MARKUP_PATTERNS: Patterns = MARKUP.map(([what, pattern]) => [
  what,
  new RegExp(pattern, 'gmu'),
]);

/** Patterns for text that is not folded. */
export const UNSPACED_PATTERNS: Patterns = PHRASES_WITHOUT_SPACES.map((one) => [
  ignoring,
  new RegExp(one, 'gu'),
]);
