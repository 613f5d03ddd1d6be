/**
 * English function words, folded as `words` folds them (so without apostrophes). Left out on purpose, because they can
 * be what a query asks for: `will`, `may`, `us`, `mine`,
 * `like`, `before`, `after`, `first`, `last`, and the contractions that spell another word (`id`, `ill`, `well`,
 * `wed`, `shell`).
 */
export const STOP_WORDS: ReadonlySet<string> = new Set([
  // Articles, determiners, conjunctions
  'a an the this that these those some any and or but nor if because so than then no not',
  // Pronouns
  'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself',
  'it its itself they them their theirs themselves there',
  // Auxiliaries
  'am is are was were be been being do does did doing have has had having can could should would shall must',
  // Prepositions
  'about at by for from in into of on onto to with as',
  // Question words
  'what which who whom whose when where why how',
  // Contractions
  'im ive youre youve youd youll hes shes theyre theyve theyd theyll weve thats whats whos wheres hows theres lets',
  'dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt mustnt',
].flatMap((line) => line.split(' ')))
