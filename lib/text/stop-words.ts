import { words } from './words.js'

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

/** The words of a language that only hold its sentences together, as `words` folds them. */
interface FunctionWords {
  all: ReadonlySet<string>
  /** Those of several letters that are no words of English, by which the language is recognised. */
  marks: ReadonlySet<string>
}

/** How many marks make a query one of that language; a title (`Das Boot`, `La Paz`) has one. */
const MIN_MARKS = 2

/** Function words that English has too, with another meaning perhaps (`the plants die`, `a hat`). */
const ENGLISH = new Set(words(`
  a am an as at comment dam dame dem den die dies do dues elle en es fur had hat in is it la les man me mine mis no
  on or par pas pour sans sin so son tan te ten ton tout un us war was will`))

const GERMAN = functionWords(`
  der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner und oder aber denn sondern
  als wenn weil dass ob damit ich du er sie es wir ihr mich mir dich dir sich uns euch ihm ihn ihnen mein meine
  meinen meinem meiner dein deine deinen deinem deiner sein seine seinen seinem seiner ihre ihren ihrem ihrer unser
  unsere unseren unserem unserer euer eure dieser diese dieses diesen diesem jener jene jenes man wer wen wem wessen
  was welcher welche welches welchen welchem wo wohin woher wann wie warum wieso weshalb wozu womit wofür wogegen
  woran worauf worüber wovon bin bist ist sind seid war warst waren wart gewesen habe hast hat haben habt hatte
  hatten werde wirst wird werden wurde wurden worden kann kannst können konnte konnten muss musst müssen musste soll
  sollte sollen darf durfte dürfen will wollte wollen mag möchte nicht auch noch schon nur so sehr denn doch mal dann
  da dort hier in im an am auf aus bei beim mit nach von vom zu zum zur für über um durch gegen ohne unter vor
  zwischen seit bis`)

const FRENCH = functionWords(`
  le la les l un une des du de d et ou mais donc or ni car que qu qui quoi dont où quel quelle quels quelles lequel
  laquelle combien comment quand pourquoi je j tu il elle on nous vous ils elles me m te t se s lui leur leurs eux
  moi toi soi mon ma mes ton ta tes son sa ses notre nos votre vos ce c cet cette ces ceci cela ça est suis es sommes
  êtes sont était étaient été sera seront a as ai avons avez ont avait avaient aura eu fait faire ne n pas plus rien
  y en au aux à dans par pour sur avec sans sous chez vers entre si comme quest est-ce`)

const SPANISH = functionWords(`
  el la los las lo un una unos unas y e o u pero sino ni que quién quiénes quien cuál cuáles qué cuándo cuánto cuánta
  cuántos cuántas dónde adónde cómo cuando donde como porque yo tú él ella ello nosotros vosotros ellos ellas usted
  ustedes me te se nos os le les mi mis tu tus su sus nuestro nuestra vuestro vuestra este esta estos estas esto ese
  esa esos esas eso aquel aquella es son era eran fue fueron ser sido está están estaba estaban soy eres somos he has
  ha hemos han había hay hubo no sí ya muy más de del a al en con sin por para sobre entre desde hasta hacia`)

const LANGUAGES = [GERMAN, FRENCH, SPANISH]

/**
 * The function words of the language of a query, if that is German, French or Spanish: the query has at least two of
 * them that are no words of English, and fewer stop words of English. They are not what it asks for.
 * @param words of the query without the stop words of English, folded as `words` folds them
 * @param stopWords of English in the query
 * @returns undefined for English and for any other language
 */
export function functionWordsOf (
  words: ReadonlySet<string>, stopWords: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  let best: FunctionWords | undefined
  let most = MIN_MARKS - 1
  for (const language of LANGUAGES) {
    const marks = countOf(words, (word) => language.marks.has(word))
    if (marks > most && marks > countOf(stopWords, (word) => !language.all.has(word))) {
      best = language
      most = marks
    }
  }
  return best?.all
}

/** Whether a word only holds sentences together in German, French or Spanish. */
export function isFunctionWord (word: string): boolean {
  return LANGUAGES.some(({ all }) => all.has(word))
}

function functionWords (text: string): FunctionWords {
  const all = new Set(words(text))
  const marks = [...all].filter((word) => word.length > 1 && !ENGLISH.has(word) && !STOP_WORDS.has(word))
  return { all, marks: new Set(marks) }
}

function countOf (words: ReadonlySet<string>, counts: (word: string) => boolean): number {
  let count = 0
  for (const word of words) if (counts(word)) count++
  return count
}
