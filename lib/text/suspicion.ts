import { decodedTexts, hidesText, plainWords, renderedText } from './disguises.js'

type InjectionKind = 'override' | 'role' | 'exfiltration' | 'concealment'

const PLACES = 'http|https|www|webhook|@|url'
const USER = 'user|users|human|operator'

/**
 * The wordings of instructions to a model in English, German, French and Spanish. A form is a sequence of words: `a|b`
 * matches either word, `a*` matches every word with that prefix (not allowed for the first word), and `~3` allows up to
 * three other words in between. Words are compared as plainWords() returns them.
 *
 * A form must be more specific than what people say to each other: "forget the rules" and "pretend to be asleep" are
 * not instructions to a model.
 */
const INJECTION_RULES: ReadonlyArray<{ kind: InjectionKind, forms: readonly string[] }> = [
  {
    kind: 'override',
    forms: [
      'ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|discard ~4 ' +
        'previous|prior|above|preceding|foregoing|earlier|former|original|initial|existing|system|developer ~3 ' +
        'instruction*|rule|rules|prompt|prompts|directive*|guideline*|guidance|constraint*|restriction*|programming|' +
          'safeguard*|guardrail*|orders|commands',
      'ignore|ignoring|disregard|disregarding|override|bypass ~1 all|any|your|every ~2 ' +
        'instruction*|prompt|prompts|directive*|programming|safeguard*|guardrail*|guidelines',
      'ignore|ignoring|disregard|bypass|disable|override ~2 safety|security|content ~1 ' +
        'guideline*|filter*|policy|policies|rules|restriction*|protocol*',
      'forget ~1 all|any|every ~2 instruction*|prompt|prompts|directive*|programming|guidelines',
      'forget all|everything|what ~1 you were|have ~2 told|instructed|programmed|trained',
      'ignore|disregard|forget everything|all|anything|text|content ~2 above|preceding',
      'ignore|disregard|forget ~2 instruction*|prompt|prompts|directive*|guidelines ~4 ' +
        'above|before|previously|earlier|until',
      'not|dont|never|stop follow|following|obey|obeying ~3 previous|prior|above|original|earlier|initial|system ~2 ' +
        'instruction*|rules|prompt|prompts|guideline*|directive*',
      'your new|real|actual|true|only instruction|instructions|directive|directives|objective is|are',
      'ignoriere|ignorier|ignorieren|vergiss|vergesst|missachte|missachten|verwirf|umgehe|uberschreibe ~4 ' +
        'vorherig*|vorig*|bisherig*|fruher*|obig*|vorangegangen*|vorangehend*|vorstehend*|ursprunglich*|' +
          'alle|deine|ihre|samtliche ~3 anweisung*|instruktion*|vorgabe*|systemregel*|befehl*|richtlinie*|prompt*',
      'ignoriere|ignorieren|vergiss ~2 vorherig*|bisherig*|obig* ~2 regel*',
      'ignoriere|vergiss alles ~3 oben|vorher|davor|zuvor',
      'ignore|ignorez|ignorer|oublie|oubliez|oublier|contourne|contournez ~3 ' +
        'instruction*|consigne*|regle*|directive* ~3 precedent*|anterieur*|initial*|dessus|systeme',
      'ignore|ignorez|oublie|oubliez toutes|tes|vos ~2 instruction*|consigne*|directive*',
      'ignora|ignore|ignorad|ignorar|olvida|olvide|olvidar|omite|descarta ~3 ' +
        'instruccion*|regla|reglas|ordenes|directriz|directrices|indicacion* ~3 ' +
        'anterior*|previa*|inicial*|sistema|arriba',
      'ignora|ignore|olvida|olvide|omite ~2 anterior*|previa*|todas|tus|sus ~2 instruccion*|directrices|indicacion*',
    ],
  },
  {
    kind: 'role',
    forms: [
      'system|developer|hidden|initial|secret prompt|prompts',
      'system|developer message|messages|instruction|instructions',
      'you are now ~3 ai|dan|chatbot|llm|gpt|assistant|unrestricted|unfiltered|uncensored|jailbroken|root',
      'you are no longer ~3 ai|assistant|chatbot|llm|bound|restricted|chatgpt|claude|gemini',
      'you are ~2 dan|unrestricted|unfiltered|uncensored|jailbroken ~2 ai|assistant|model|chatbot|llm',
      'act|behave|respond|answer|reply|operate as ~3 ai|dan|chatbot|llm|unrestricted|unfiltered|uncensored|jailbroken',
      'act|behave|respond|answer|reply as|like ~1 you ~2 no|without|not ~2 ' +
        'restriction*|rules|filter*|guideline*|guardrail*|bound',
      'pretend|roleplay ~5 ai|dan|chatbot|llm|unrestricted|unfiltered|uncensored|jailbroken',
      'pretend ~4 no|without restriction*|rules|filter*|guideline*|guardrail*',
      'if|when you are ~2 ai|llm|language|chatbot ~2 assistant|model|agent|reading|processing',
      'from now on ~1 you ~2 respond|answer|reply|obey|output|act|ignore',
      'from now on respond|answer|reply|obey|output|ignore',
      'dan|jailbreak|unrestricted mode',
      'do anything now',
      'systemprompt|systemprompts|systemnachricht|systemanweisung|systemanweisungen',
      'du bist ~1 jetzt|nun|ab ~3 ki|chatbot|assistent|dan|sprachmodell|unbeschrankt*|uneingeschrankt*',
      'agiere|handle|antworte|verhalte ~1 als|wie ~2 ki|chatbot|dan|sprachmodell',
      'ab sofort|jetzt antworte|antwortest|befolge|befolgst|gehorche',
      'tu|vous es|etes maintenant|desormais|dorenavant ~3 ia|assistant|chatbot|dan|robot',
      'agis|agissez|comporte|reponds|repondez ~2 comme ~2 ia|chatbot|dan|robot',
      'invite|prompt|message|instructions ~1 systeme',
      'ahora eres|es ~3 ia|asistente|chatbot|dan|robot',
      'actua|actue|comportate|responde como ~2 ia|chatbot|dan|robot',
      'prompt|mensaje|instrucciones ~1 sistema',
    ],
  },
  {
    kind: 'exfiltration',
    forms: [
      'reveal|print|output|disclose|leak|dump|repeat|recite|expose ~2 your ~2 ' +
        'instruction*|prompt|prompts|configuration',
      'exfiltrate|exfiltrating ~6 data|memor*|secret*|key|keys|credential*|password*|conversation*|history|file|files',
      'send|sending|post|forward|upload|transmit|email|mail|leak|submit|deliver|copy ~6 ' +
        'password*|passphrase*|secret|secrets|credential*|token|tokens|key|keys|prompt|instructions ~8 ' +
        `to|at|via|into ~3 ${PLACES}|address`,
      'send|sending|post|forward|upload|transmit|email|mail|leak|submit|deliver|copy ~2 ' +
        'all|any|every|stored|other|private|user|users|their ~3 memories|memory|conversation*|history|messages|data ' +
        `~8 to|at|via|into ~3 ${PLACES}|address`,
      'reveal|show|list|print|dump|send|give|tell|share ~3 other users|tenants|customers ~1 ' +
        'memories|data|secrets|conversations',
      'reveal|print|output|dump|disclose|leak ~2 all ~2 secrets|passwords|credentials|tokens|keys',
      'sende|schicke|schick|ubermittle|ubertrage|poste|leite|maile|verrate ~6 ' +
        'passwort*|kennwort*|geheimnis*|zugangsdaten|schlussel*|token|tokens|systemprompt|erinnerungen|daten ~8 ' +
        `an|nach|zu ~3 ${PLACES}`,
      'verrate|zeige|nenne|offenbare|wiederhole ~2 deine|deinen|ihre ~2 anweisung*|instruktion*|prompt|systemprompt',
      'envoie|envoyez|transmets|transmettez|divulgue|divulguez|poste|postez ~6 ' +
        'passe|secret|secrets|cle|cles|identifiants|jeton|jetons|souvenirs|memoires|donnees|prompt ~8 a|vers|sur ~3 ' +
        `${PLACES}`,
      'revele|revelez|affiche|affichez|repete|repetez|divulgue ~2 tes|vos|ton|votre ~2 instruction*|prompt|consigne*',
      'envia|envie|manda|mande|reenvia|reenvie|publica|filtra ~6 ' +
        'contrasena*|clave|claves|secreto|secretos|credencial*|token|tokens|recuerdos|memorias|datos|prompt ~8 ' +
        `a|al|hacia ~3 ${PLACES}`,
      'revela|muestra|imprime|repite ~2 tus|tu|sus ~2 instruccion*|prompt|indicacion*',
    ],
  },
  {
    kind: 'concealment',
    forms: [
      `not|dont|never tell|inform|notify|alert|warn ~1 ${USER}`,
      `not|dont|never mention|reveal|disclose|say ~4 to ~1 ${USER}`,
      `not|dont|never let ~1 ${USER} know|see|notice|find`,
      `without ~1 telling|informing|notifying|alerting|warning ~1 ${USER}`,
      `hide|conceal|keep this|it|these|that ~3 from ~1 ${USER}`,
      `${USER} must|should not|never know|notice|learn|find|suspect`,
      'sag|sage|sagen|erzahl|erzahle|verrate|teile|melde ~1 dem|der|den ~1 nutzer*|benutzer*|anwender* ~4 nicht|nichts',
      'ohne ~2 nutzer*|benutzer*|anwender* ~3 informieren|sagen|mitzuteilen|benachrichtigen|wissen',
      'verheimliche|verbirg|verschweige ~4 nutzer*|benutzer*|anwender*',
      'ne|n dis|dites|parle|parlez|mentionne|mentionnez|revele|revelez|informe|informez ~4 utilisateur*',
      'sans ~2 informer|prevenir|dire|avertir ~3 utilisateur*',
      'cache|cachez|dissimule|dissimulez ~4 utilisateur*',
      'no ~2 digas|diga|menciones|mencione|informes|informe|reveles|revele|cuentes ~4 usuario*',
      'sin ~1 informar|decir|decirselo|avisar|notificar ~2 usuario*',
      'oculta|ocultalo|oculte|esconde ~4 usuario*',
    ],
  },
]

/** A word of a rule. */
interface Step {
  /** The most other words between the previous word and this one. */
  gap: number
  exact: ReadonlySet<string>
  prefixes: readonly string[]
}

interface Rule {
  kind: InjectionKind
  steps: readonly Step[]
}

/** The least number of single letters in a row that is read as a word, as in `i g n o r e`. */
const MIN_SPELLED_LETTERS = 8
/** Beginnings of instructions, without spaces. */
const RUN_TOGETHER = new RegExp([
  'ignore(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)',
  'disregard(?:all|any|the|your)*(?:previous|prior|above|earlier|instruction|rules)',
  'forget(?:all|your)*(?:previous|prior|instruction)',
  'systemprompt|youarenow|revealyour',
].join('|'))

const RULES: ReadonlyMap<string, readonly Rule[]> = byFirstWord(
  INJECTION_RULES.flatMap(({ kind, forms }) => forms.map((form) => compile(kind, form))),
)

/**
 * The kinds of instructions that occur in the words. Each word is checked as the first of a match, with a bounded
 * number of words after it.
 * @param words words of plainWords()
 */
function injectionsIn (words: readonly string[]): Set<InjectionKind> {
  const found = new Set<InjectionKind>()
  // Single letters in a row are joined, to find instructions that are spelled out.
  let letters = ''
  const endSpelling = () => {
    if (letters.length >= MIN_SPELLED_LETTERS && RUN_TOGETHER.test(letters)) found.add('override')
    letters = ''
  }
  for (const [at, word] of words.entries()) {
    if (word.length === 1) letters += word
    else if (letters !== '') endSpelling()
    for (const { kind, steps } of RULES.get(word) ?? []) {
      if (!found.has(kind) && matchesFrom(words, at, steps, 1)) found.add(kind)
    }
  }
  endSpelling()
  return found
}

/** Whether the words after `at` match the steps from `next` on. */
function matchesFrom (words: readonly string[], at: number, steps: readonly Step[], next: number): boolean {
  const step = steps[next]
  if (step === undefined) return true
  const last = Math.min(words.length - 1, at + 1 + step.gap)
  for (let place = at + 1; place <= last; place++) {
    if (matchesStep(words[place]!, step) && matchesFrom(words, place, steps, next + 1)) return true
  }
  return false
}

function matchesStep (word: string, { exact, prefixes }: Step): boolean {
  return exact.has(word) || prefixes.some((prefix) => word.startsWith(prefix))
}

function compile (kind: InjectionKind, form: string): Rule {
  const steps: Step[] = []
  let gap = 0
  for (const part of form.split(' ')) {
    if (part.startsWith('~')) {
      gap = Number(part.slice(1))
      continue
    }
    const alternatives = part.split('|')
    steps.push({
      gap,
      exact: new Set(alternatives.filter((word) => !word.endsWith('*'))),
      prefixes: alternatives.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1)),
    })
    gap = 0
  }
  return { kind, steps }
}

function byFirstWord (rules: readonly Rule[]): Map<string, Rule[]> {
  const map = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const word of rule.steps[0]!.exact) map.set(word, [...map.get(word) ?? [], rule])
  }
  return map
}

/**
 * Why a text is suspect:
 * - `override`: it tells a model to ignore or replace earlier instructions
 * - `role`: it speaks of system prompts or gives a model a role
 * - `delimiter`: it contains tokens of chat templates, or delimiters that end the evidence or start a turn
 * - `exfiltration`: it asks to reveal secrets, prompts or memories, or has a URL that could transmit them
 * - `concealment`: it tells a model to hide something from the user
 * - `citation`: it asks to be cited, or makes claims about a numbered piece of evidence
 * - `hidden_text`: it contains characters that hide text from a human reader
 * - `encoded`: once decoded from base64, hexadecimal or escapes, it does one of these
 */
export const SUSPICIONS = [
  'override', 'role', 'delimiter', 'exfiltration', 'concealment', 'citation', 'hidden_text', 'encoded',
] as const
export type Suspicion = typeof SUSPICIONS[number]

/** UTF-16 units that are searched at a time, and how far beyond them a match may extend. */
const WINDOW_CHARACTERS = 8_192
const OVERLAP_CHARACTERS = 512

/** Expressions of one kind. */
interface Patterns {
  /**
   * A part that every match contains. Most texts do not contain it, so they are searched once instead of a dozen
   * times.
   */
  prefilter: RegExp
  patterns: readonly RegExp[]
}

const EVIDENCE = 'evidence|memory|memories|context|system|instructions?|prompt|user input|conversation'
const ENDING_TAGS = 'evidence|memory|memories|context|system|instructions?|prompt|assistant|untrusted|tool_result|' +
  'function_results'
const ORDERS = "you|the user|ignore|always|never|do not|don't|must|new|override"
const DELIMITERS: Patterns = {
  prefilter: /[<>[#:"]|[-=*_~]{3}|BEGIN|END/,
  patterns: [
    /<\|[a-z_ ]{2,40}\|>/gi,
    /\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/g,
    /^[ \t]{0,8}#{1,6}[ \t]{0,4}(?:system|assistant|human|developer|instruction|response)[ \t]{0,4}:/gim,
    new RegExp(String.raw`<[ \t]{0,4}/[ \t]{0,4}(?:${ENDING_TAGS})[ \t]{0,4}>`, 'gi'),
    /<[ \t]{0,4}(?:evidence|system|system[-_]reminder|instructions?|assistant)[ \t]{0,4}>/gi,
    new RegExp(`\\b(?:BEGIN|END)(?: OF)?(?: THE)? (?:${EVIDENCE.toUpperCase()})\\b`, 'g'),
    new RegExp(`[-=<*_#~]{3,20}[ \\t]{0,4}(?:begin|end)(?: of)?(?: the)? (?:${EVIDENCE})\\b`, 'gi'),
    // The delimiters of the service's own prompts (answering/evidence.ts).
    /<{3}[ \t]{0,4}(?:EVIDENCE|MEMORIES)\b|\b(?:EVIDENCE|MEMORIES)(?: [0-9a-z-]{1,64})?[ \t]{0,4}>{3}/gi,
    /^[ \t]{0,8}\[\d{1,3}\][ \t]{0,4}\{[ \t]{0,4}"(?:bank|date|source|trust|text)"/gm,
    /"trust"[ \t]{0,4}:[ \t]{0,4}"(?:suspect|untrusted|trusted)"/g,
    /^[ \t>*_-]{0,8}(?:SYSTEM|DEVELOPER)[ \t*_]{0,4}:/gm,
    new RegExp(String.raw`^[ \t>*_-]{0,8}(?:system|developer)[ \t*_]{0,4}:[ \t]{0,4}(?:${ORDERS})\b`, 'gim'),
  ],
}
/**
 * The start of a conversation turn inside a text. It is ordinary in a text that is a transcript from its first line on.
 */
const TURN_INSIDE: Patterns = { prefilter: /:/, patterns: [/\n[ \t>*_-]{0,8}(?:assistant|human)[ \t*_]{0,4}:/gi] }
const TRANSCRIPT = /^[ \t>*_-]{0,8}(?:user|human|assistant|ai|bot|agent)[ \t*_]{0,4}:/i

const CITATIONS: Patterns = {
  prefilter: /\[|cite/i,
  patterns: [
    /\bcite\b[^\n[\]]{0,40}\[\d{1,3}\]/gi,
    /\[\d{1,3}\][ \t]{0,3}(?:says?|said|states?|confirms?|shows?|proves?|tells?)\b/gi,
    /\b(?:evidence|memory)[ \t]{0,3}\[\d{1,3}\]/gi,
    /\bcite only (?:me\b|this (?:memory|text|entry|note|evidence)\b)/gi,
    /\bcite (?:this|me|only this)(?: (?:memory|text|entry|note|source))? (?:as|in|for)\b/gi,
  ],
}

const IMAGES = /!\[[^[\]\n]{0,200}\]\([^\s()]{1,2000}|<img[^<>]{1,2000}/gi
const LINKS = /\]\(((?:https?:)?\/\/[^\s()]{1,2000})/gi
/** A URL query whose value is missing: it ends in `=`, or its value is a placeholder. */
const QUERY_TO_FILL = /\?[^\s?]{0,500}=(?:$|[{<[$]|%7b)/i
/** A URL query that transmits a text, by the names of its parameters. Those of badges and charts differ. */
const QUERY_WITH_DATA = new RegExp(`[?&](?:${[
  'q|d|data|text|msg|message|content|info|secret|memory|memories|history|chat|conversation|prompt|password|payload',
  'leak|exfil',
].join('|')})=`, 'i')

/**
 * Searches for instructions to a model and for hidden text. It finds the usual wordings (English, German, French,
 * Spanish) and disguises, not all of them, because it compares words and does not understand a text. The time is linear
 * in the length of the text.
 * @returns the kinds found, each once, in the order of SUSPICIONS
 */
export function suspicionsIn (text: string): Suspicion[] {
  const rendered = renderedText(text)
  const found = kindsIn(rendered)
  if (hidesText(text)) found.add('hidden_text')
  for (const decoded of decodedTexts(rendered)) {
    const kinds = kindsIn(renderedText(decoded))
    if (kinds.size === 0) continue
    found.add('encoded')
    break
  }
  return SUSPICIONS.filter((kind) => found.has(kind))
}

function kindsIn (rendered: string): Set<Suspicion> {
  const found = new Set<Suspicion>(injectionsIn(plainWords(rendered)))
  if (anyIn(DELIMITERS, rendered) || (anyIn(TURN_INSIDE, rendered) && !TRANSCRIPT.test(rendered))) {
    found.add('delimiter')
  }
  if (anyIn(CITATIONS, rendered)) found.add('citation')
  const mayHaveUrls = rendered.includes('](') || rendered.includes('<')
  if (mayHaveUrls && hasTransmittingUrl(rendered)) found.add('exfiltration')
  return found
}

/** Whether any of the patterns matches in the text; no match is longer than OVERLAP_CHARACTERS units. */
function anyIn (kind: Patterns, text: string): boolean {
  for (let from = 0; ; from += WINDOW_CHARACTERS) {
    const isLast = text.length - from <= WINDOW_CHARACTERS + OVERLAP_CHARACTERS
    // The window includes one character before it, which `^` and `\b` examine.
    const before = Math.min(from, 1)
    const window = text.slice(from - before, isLast ? text.length : from + WINDOW_CHARACTERS + OVERLAP_CHARACTERS)
    for (const pattern of kind.prefilter.test(window) ? kind.patterns : []) {
      pattern.lastIndex = before
      // A match at the end of the window could differ with the text after it; the next window contains it whole.
      if (pattern.test(window) && (isLast || pattern.lastIndex < window.length)) return true
    }
    if (isLast) return false
  }
}

/** Whether an image, which clients fetch unasked, or a link has a URL query that could transmit data. */
function hasTransmittingUrl (text: string): boolean {
  for (const [image] of text.matchAll(IMAGES)) {
    if (image.includes('//') && (QUERY_TO_FILL.test(image) || QUERY_WITH_DATA.test(image))) return true
  }
  for (const [, address] of text.matchAll(LINKS)) {
    if (QUERY_TO_FILL.test(address!)) return true
  }
  return false
}
