import { createRequire } from 'node:module'
import type * as chronoEn from 'chrono-node/en'
import { DAY_MS } from '../time/days.js'

/** Every month has this many days. */
const SHORTEST_MONTH_DAYS = 28

export type NamedDate = Pick<chronoEn.ParsedResult, 'index' | 'text' | 'start'> & {
  end?: chronoEn.ParsedResult['end'] | undefined
}

let loaded: chronoEn.Chrono | undefined

/**
 * The parser, with regular expressions whose backtracking is bounded: the originals read runs of up to eleven durations
 * (`1 year, 2 months ago`) and try every way of dividing their white space. Loading takes a while, so a server loads it
 * before it listens.
 */
export function loadDateParser (): chronoEn.Chrono {
  if (loaded === undefined) {
    const { Chrono, casual } = createRequire(import.meta.url)('chrono-node/en') as typeof chronoEn
    loaded = new Chrono({ ...casual, parsers: casual.parsers.map(withShortRuns) })
    // V8 interprets a regular expression on its first use and compiles it on its second, for texts of Latin-1 and for
    // others apart, so two texts of each warm all of them up.
    for (const text of ['3 May 2023', 'a1b', '3 May 2023 – 5', 'a1b–']) loaded.parse(text, new Date(0))
  }
  return loaded
}

/**
 * A parser that reads at most three durations in a row. The cost grows exponentially with their number: eleven can take
 * hours.
 */
function withShortRuns (eager: chronoEn.Parser): chronoEn.Parser {
  const patterns = new Map<string, RegExp>()
  return {
    pattern: (context) => {
      const { source, flags } = eager.pattern(context)
      const known = patterns.get(source) ?? new RegExp(source.replaceAll('{0,10}', '{0,2}'), flags)
      patterns.set(source, known)
      return known
    },
    extract: (context, match) => eager.extract(context, match),
  }
}

/**
 * The dates in a text. The parser counts months from the day of the reference: a month before 31 May is 31 April, which
 * it reads as 1 May. So months are counted from a day that every month has.
 */
export function parseDates (text: string, reference: number): NamedDate[] {
  const parse = (part: string, instant: number) => loadDateParser().parse(part, inLocalTime(instant))
  const results = parse(text, reference)
  const extraDays = new Date(reference).getUTCDate() - SHORTEST_MONTH_DAYS
  if (extraDays <= 0) return results
  return results.map((found) => {
    const { index, text } = found
    const [again] = /\bmonths?\b/i.test(text) ? parse(text, reference - extraDays * DAY_MS) : []
    return again === undefined ? found : { index, text, start: again.start, end: again.end }
  })
}

/**
 * The instant at which the process's time zone has the date and the time that UTC has at the given one. The parser
 * reads some times (`last night`, `this month`) in the time zone of the process, even if it is told another.
 */
function inLocalTime (instant: number): Date {
  const utc = new Date(instant)
  const local = new Date(0)
  local.setFullYear(utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate())
  local.setHours(utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds(), utc.getUTCMilliseconds())
  return local
}
