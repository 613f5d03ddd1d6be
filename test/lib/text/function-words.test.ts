import t from 'tap'
import { functionWordsOf, STOP_WORDS } from '../../../lib/text/stop-words.js'
import { words } from '../../../lib/text/words.js'

/** The function words that the query has, if its language is not English. */
function foundIn (query: string): string[] | undefined {
  const all = [...new Set(words(query))]
  const rest = all.filter((word) => !STOP_WORDS.has(word))
  const known = functionWordsOf(new Set(rest), new Set(all.filter((word) => STOP_WORDS.has(word))))
  return known && rest.filter((word) => known.has(word))
}

t.test('a German, French or Spanish query has the function words of its language', async (t) => {
  t.strictSame(foundIn('Wofür hat die Müllerin das Mehl gekauft?'), ['wofur', 'hat', 'die', 'das'])
  t.strictSame(foundIn('Was war im Ofen, und wer sah es?'), ['war', 'und', 'wer', 'es'])
  t.strictSame(foundIn('Combien de farine la meunière a-t-elle achetée ?'), ['combien', 'de', 'la', 't', 'elle'])
  t.strictSame(foundIn('¿Cuánta harina compró la molinera para el pan?'), ['cuanta', 'la', 'para', 'el'])
})

t.test('an English query, a title and a query of few words have none', async (t) => {
  for (const query of [
    'Who bought the flour?', 'Do the plants die in war?', 'Das Boot', 'La Paz', 'What does “wer hat das” mean?',
    'Is El Niño over?', 'Where is the La Scala in Milan?', 'Mehl', 'was hat man', 'y e o u', '', 'Где мука?',
  ]) t.equal(foundIn(query), undefined, query)
})
