// Articles, pronouns, auxiliaries, prepositions and similar words, and the parts that remain of
// `don't` and `we'll`.
const COMMON_WORDS: ReadonlySet<string> = new Set(
  `a an the this that these those it its
  i me my mine we us our ours you your yours he him his she her hers they them their theirs
  who whom whose which what when where why how
  am is are was were be been being do does did doing done have has had having
  can could may might must shall should will would let
  and or but nor not no if then else than as so too also just only very such
  of in on at to from for with without by about into onto over under out up down off between through
  during before after above below again there here all any both each few more most other some same
  own once while until because since s t d ll m re ve don doesn didn isn aren wasn weren won
  wouldn couldn shouldn hasn haven hadn e g ie eg etc please`.split(/\s+/),
);

/**
 * Whether nearly every English text contains the word. Then it says little about what a search is
 * for.
 */
export function isCommonWord(word: string): boolean {
  return COMMON_WORDS.has(word);
}
