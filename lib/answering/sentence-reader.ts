import { readMark } from './marks.js'

// The characters and words that decide where a sentence ends.

/** Characters that end a sentence if white space follows. */
const STOPS = new Set('.!?…؟۔।॥')
/** Characters that end a sentence in scripts without spaces between sentences. */
const WIDE_STOPS = new Set('。！？｡')
/** Characters after the end of a sentence that still belong to it. */
const CLOSERS = new Set('"\'”’»)*_`」』〉》）')
const SPACE = /\s/
const SMALL = /\p{Ll}/u
const CAPITAL = /[\p{Lu}\p{Lo}]/u
const DIGIT = /\d/
/** The number of a list item; its full stop does not end a sentence. */
const LIST_NUMBER = /^[\s>]{0,40}\d{1,9}$/
/** The fence of a block of code. Its run is read whole: tried at each length, a line of tildes takes quadratic time. */
export const FENCE = /^\s*(?:>\s?)*(`{3,}(?!`)|~{3,}(?!~))([^`[\]]*)$/
const LAST_WORD = /(?:^|[^\p{L}\p{N}.])([\p{L}.]{1,10})$/u
const INITIALS = /^(?:\p{L}\.)*\p{L}$/u
const ABBREVIATIONS = new Set(`dr mr mrs ms prof st sr jr vs no nos fig eq sec vol ca cf approx dept est inc ltd co corp
gen sen rep rev hon etc al mme mlle nr bzw usw evtl ggf vgl abb hr fr pt sra dra ej núm pág`.split(/\s+/))

/** Number of UTF-16 units before a full stop that suffice to recognize an abbreviation. */
const MAX_ABBREVIATION = 12

/** Whether the text before a full stop ends in a common abbreviation or an initial. */
function endsInAbbreviation (text: string): boolean {
  const word = LAST_WORD.exec(text)?.[1]
  return word !== undefined && (INITIALS.test(word) || ABBREVIATIONS.has(word.toLowerCase()))
}

/** Maximum number of UTF-16 units that are held while a sentence does not end. */
const MAX_SENTENCE_CHARACTERS = 20_000
/**
 * Maximum distance at which an open bracket or code span keeps a sentence together; one that is never closed must not
 * hold back the rest.
 */
const MAX_SPAN_CHARACTERS = 300
const MAX_MARK_CHARACTERS = 200

/** A sentence with the white space before it, or a whole line of code or of a table. */
export interface TextUnit {
  text: string
  /** Whether it is the first of its line. */
  starts: boolean
  /** Whether it is in a fenced code block, including the fences. */
  code: boolean
}

interface UnitSink {
  unit (unit: TextUnit): void
  lineBreak (): void
}

type Phase = 'body' | 'ended' | 'mark'

/**
 * Splits a text that arrives in chunks into sentences, each with the marks that follow its full stop; a line feed ends
 * a sentence too. Unlike `sentencesOf` it decides only by the text before a cut and the next characters, so the
 * cuts do not depend on the chunks. A sentence does not end inside brackets or a code span, after a common abbreviation
 * or an initial, or before a lower-case letter. A sentence of more than 20,000 UTF-16 units is emitted in parts, split
 * at white space if there is any.
 */
export class SentenceReader {
  readonly #sink: UnitSink
  #text = ''
  /** The start of the unit that is being read; all other positions but `#at` are relative to it. */
  #start = 0
  #at = 0
  #firstOfLine = true
  #line: 'undecided' | 'whole' | 'prose' = 'undecided'
  /** Backticks or tildes at the beginning of the line so far. */
  #lead = ''
  #fence = ''
  #phase: Phase = 'body'
  #boundary = 0
  #gap = false
  #marked = false
  #wide = false
  #weak = false
  #markAt = 0
  #bracketAt = -1
  #tickRun = 0
  #tickOpen = 0
  #tickAt = 0

  constructor (sink: UnitSink) {
    this.#sink = sink
  }

  push (chunk: string): void {
    this.#text += chunk
    while (this.#at < this.#text.length) this.#step(this.#text[this.#at]!)
    this.#text = this.#text.slice(this.#start)
    this.#at -= this.#start
    this.#start = 0
  }

  end (): void {
    this.#endLine()
  }

  #step (character: string): void {
    if (character === '\n') {
      this.#endLine()
      this.#sink.lineBreak()
      this.#at += 1
      this.#start = this.#at
      return
    }
    const offset = this.#at - this.#start
    if (offset >= MAX_SENTENCE_CHARACTERS) {
      this.#cutLong(offset)
      return
    }
    this.#at += 1
    if (this.#line === 'undecided') this.#decide(character)
    if (this.#line !== 'whole') this.#read(character, offset)
  }

  /** A line of a table, of code or of a fence is one unit. */
  #decide (character: string): void {
    if (this.#fence !== '' || character === '|') this.#line = 'whole'
    else if ((character === '`' || character === '~') && (this.#lead === '' || this.#lead.endsWith(character))) {
      this.#lead += character
      if (this.#lead.length === 3) this.#line = 'whole'
    } else if (!SPACE.test(character) && !(character === '>' && this.#lead === '')) this.#line = 'prose'
  }

  #read (character: string, offset: number): void {
    if (this.#phase === 'mark') this.#readMark(character, offset)
    else if (this.#phase === 'ended') this.#readEnd(character, offset)
    else this.#readBody(character, offset)
  }

  #readBody (character: string, offset: number): void {
    this.#phase = 'body'
    if (character === '`') {
      this.#tickRun += 1
      return
    }
    this.#closeTicks(offset)
    if (character === '[' || character === '【') {
      this.#bracketAt = offset
    } else if (character === ']' || character === '】') {
      this.#bracketAt = -1
    } else if ((STOPS.has(character) || WIDE_STOPS.has(character)) && !this.#inside(offset)) {
      this.#readStop(character, offset)
    }
  }

  #closeTicks (offset: number): void {
    if (this.#tickRun === 0) return
    if (this.#tickOpen === 0) {
      this.#tickOpen = this.#tickRun
      this.#tickAt = offset
    } else if (this.#tickOpen === this.#tickRun) this.#tickOpen = 0
    this.#tickRun = 0
  }

  #inside (offset: number): boolean {
    if (this.#tickOpen > 0 && offset - this.#tickAt < MAX_SPAN_CHARACTERS) return true
    return this.#bracketAt >= 0 && offset - this.#bracketAt < MAX_SPAN_CHARACTERS
  }

  #readStop (character: string, offset: number): void {
    if (character === '.' && this.#firstOfLine && offset < 60 && LIST_NUMBER.test(this.#slice(0, offset))) return
    this.#phase = 'ended'
    this.#boundary = offset + 1
    this.#gap = false
    this.#marked = false
    this.#wide = WIDE_STOPS.has(character)
    this.#weak = character === '.' && endsInAbbreviation(this.#slice(Math.max(0, offset - MAX_ABBREVIATION), offset))
  }

  #readEnd (character: string, offset: number): void {
    if (SPACE.test(character)) {
      this.#gap = true
    } else if (character === '[' || character === '【') {
      this.#phase = 'mark'
      this.#markAt = offset
    } else if (!this.#gap && (STOPS.has(character) || WIDE_STOPS.has(character) || CLOSERS.has(character))) {
      this.#boundary = offset + 1
      this.#wide ||= WIDE_STOPS.has(character)
    } else if (this.#begins(character)) {
      this.#emit(this.#boundary)
    } else {
      this.#readBody(character, offset)
    }
  }

  /** Whether this character after a full stop can begin a sentence. */
  #begins (character: string): boolean {
    if (!this.#gap) return this.#wide ? character !== '(' && character !== ':' : this.#marked && CAPITAL.test(character)
    if (this.#wide) return true
    if (SMALL.test(character)) return false
    if (this.#marked) return true
    return !this.#weak && !(DIGIT.test(character) && DIGIT.test(this.#slice(this.#boundary - 2, this.#boundary - 1)))
  }

  #readMark (character: string, offset: number): void {
    if (character === ']' || character === '】') {
      // The number of sources does not matter here: a mark without a source belongs to its sentence too.
      if (readMark(this.#slice(this.#markAt + 1, offset), 1) !== undefined) {
        this.#boundary = offset + 1
        this.#phase = 'ended'
        this.#gap = false
        this.#marked = true
      } else this.#readOther(-1)
    } else if (character === '[' || character === '【') this.#readOther(offset)
    else if (offset - this.#markAt > MAX_MARK_CHARACTERS) this.#readOther(this.#markAt)
  }

  /** Handles a bracket that is not a mark: it begins the next sentence or continues this one. */
  #readOther (bracketAt: number): void {
    if (this.#gap && !this.#weak) {
      this.#emit(this.#boundary)
      return
    }
    this.#phase = 'body'
    this.#bracketAt = bracketAt
  }

  #cutLong (offset: number): void {
    let end = offset
    while (end > offset / 2 && !SPACE.test(this.#text[this.#start + end]!)) end -= 1
    if (end > offset / 2) {
      this.#emit(end)
      return
    }
    const before = this.#text.charCodeAt(this.#start + offset - 1)
    // Without the space the two parts could join into a link that neither contains by itself.
    this.#emit(before >= 0xd800 && before < 0xdc00 ? offset - 1 : offset, ' ')
  }

  /** Emits the unit up to `end`; the text after it is read again. */
  #emit (end: number, suffix = ''): void {
    const whole = this.#line === 'whole'
    this.#sink.unit({
      text: this.#slice(0, end) + suffix, starts: this.#firstOfLine, code: whole && this.#fence !== '',
    })
    this.#firstOfLine = false
    this.#start += end
    this.#at = this.#start
    this.#reset()
  }

  #endLine (): void {
    const text = this.#text.slice(this.#start, this.#at)
    const fence = this.#firstOfLine && this.#line === 'whole' ? FENCE.exec(text) : null
    const inside = this.#fence !== ''
    if (fence !== null && !inside) this.#fence = fence[1]!
    const code = this.#line === 'whole' && this.#fence !== ''
    if (fence !== null && inside && fence[2]!.trim() === '' && fence[1]!.startsWith(this.#fence)) this.#fence = ''
    if (text.trim() !== '') this.#sink.unit({ text, starts: this.#firstOfLine, code })
    this.#start = this.#at
    this.#firstOfLine = true
    this.#line = 'undecided'
    this.#lead = ''
    this.#reset()
  }

  #reset (): void {
    this.#phase = 'body'
    this.#bracketAt = -1
    this.#tickRun = 0
    this.#tickOpen = 0
  }

  /** @param from relative to the start of the unit, as is `to` */
  #slice (from: number, to: number): string {
    return this.#text.slice(this.#start + from, this.#start + to)
  }
}
