import { performance } from 'node:perf_hooks'
import fc from 'fast-check'
import t from 'tap'
import { findSuperseded, type Comparable } from '../../../lib/operations/contradictions.js'

const memory = (text: string, more: Partial<Comparable> = {}): Comparable => ({
  text, speaker: 'Ann', occurredAt: null, trust: 'trusted', key: null, ...more,
})
/** Why the later text may supersede the earlier one. */
const because = (said: string, later: string, ofSaid: Partial<Comparable> = {}, ofLater: Partial<Comparable> = {}) => (
  findSuperseded(memory(later, ofLater), [{ memoryId: 'said', ...memory(said, ofSaid) }])[0]?.because
)

const CHANGES: Array<[string, string, string]> = [
  ['value', 'I work at Acme as an accountant.', 'Hi all! I work at Globex now.'],
  ['value', 'My favorite color is blue.', 'my favourite colour is green'],
  ['value', 'I prefer tea over coffee in the mornings', 'I prefer coffee over tea in the mornings'],
  ['value', 'The user prefers dark mode.', 'The user prefers light mode.'],
  ['value', 'We use Jira for tickets.', 'We moved from Jira to Linear for tickets.'],
  ['value', 'Tom and I are dating.', 'Tom and I broke up.'],
  ['place', 'I live in Rome near the river.', 'I moved to Milan last month.'],
  ['place', 'My flat is in Leeds.', 'I moved back to York.'],
  ['place', 'Our office is on Mill Street.', 'Our office moved to the harbour quarter.'],
  ['number', 'My rent is 900 euros a month.', 'My rent is €1,050 a month now.'],
  ['number', 'The meeting is at 3 pm on Monday.', 'The meeting is at 4 pm on Monday.'],
  ['number', 'The deadline for the report is 12 May.', 'The deadline for the report is May 19th.'],
  ['number', 'The meeting with the bank is on Tuesday.', 'The meeting with the bank was moved to Friday.'],
  ['number', 'My flight to Tokyo is on 2 October.', 'They moved my flight to Tokyo to 5 October.'],
  ['value', 'My wifi password is bluebird.', 'I changed my wifi password to nightowl.'],
  ['place', 'The kickoff is in Hamburg.', 'They moved the kickoff from Hamburg to Bremen.'],
  ['number', 'The app is at version 2.3.1.', 'The app is at version 2.4.0.'],
  ['number', 'I have two cats.', 'I have three cats.'],
  ['negation', 'I smoke a pack a day.', 'I gave up smoking three weeks ago.'],
  ['negation', "I don't eat meat.", 'I eat meat now.'],
  ['negation', 'I like horror movies.', 'I used to like horror movies.'],
  ['negation', 'I own a motorbike.', 'I sold my motorbike.'],
  ['near_duplicate', 'I love hiking in the mountains on weekends.', 'I love to hike in the mountains on the weekends!'],
]
for (const [kind, said, later] of CHANGES) {
  await t.test(`"${later}" may supersede "${said}": ${kind}`, async (t) => {
    t.equal(because(said, later), kind)
  })
}

const BOTH_STAND: Array<[string, string]> = [
  ['I speak French.', 'I speak German.'],
  ['I have a dog.', 'I have a cat.'],
  ['I live in Germany.', 'I live in Berlin.'],
  ['I live in Berlin.', 'I live in a small flat.'],
  ['I live in Lisbon.', 'I may move to Oslo.'],
  ['I live in Lisbon.', 'If I lived in Oslo I would ski.'],
  ['I live in Lisbon.', 'Do I live in Oslo?'],
  ['I live in Rome.', 'My cousin said "I live in Milan now".'],
  ['My boss is Olga.', 'My boss is strict.'],
  ['My sister works at Acme.', 'I work at Globex now.'],
  ['In 2019 I lived in Prague.', 'In 2021 I lived in Vienna.'],
  ['The meeting is at 3 pm.', 'The meeting is at 15:00.'],
  ['The trail is 5 km long.', 'The trail is 3.1 miles long.'],
  ['I have two cats.', 'I have 2 cats.'],
  ['I prefer dark mode.', 'I prefer short answers.'],
  ['The deadline is 12 May.', 'We moved the fridge to the kitchen.'],
  ['I live in Rome.', 'The meeting was moved to Milan.'],
  ['I drink one coffee in the morning.', 'I drink two coffees at work.'],
  ['User is a software engineer.', 'User is a mother of two.'],
  ["User's sister lives in Oslo.", "User's brother lives in Bergen."],
  ['The service runs on port 8080.', 'The database runs on port 5432.'],
  ['I work from home on Mondays.', 'I work from Lisbon in summer.'],
  ['I write in Python.', 'I write in Go.'],
  ['I keep it in the fridge.', 'I keep it in the drawer.'],
  ['I have a meeting at 3 pm.', 'I have a meeting at 5 pm.'],
  ["I'm not hungry.", "I'm hungry now."],
  ['I know.', "I don't know."],
  ['I eat fish.', "I don't eat shellfish."],
  ['I eat meat.', "I don't eat meat on Fridays."],
  ['I drink coffee.', 'I stopped drinking coffee on Fridays.'],
  ['Step 1: unscrew the lid.', 'Step 2: remove the filter.'],
  ['Ticket #331 is assigned to Noor.', 'Ticket #332 is assigned to Piet.'],
  ['My plan is to rest.', 'My plan is to travel now.'],
  ['I am renting the room.', 'I am reading the book.'],
  ['Ich esse gern Fleisch am Sonntag.', 'Ich esse nicht gern Fleisch am Sonntag.'],
  ['Can you recommend a good book about whales?', 'Can you recommend a good book about whales?'],
  ['', ''],
]
for (const [said, later] of BOTH_STAND) {
  await t.test(`"${later}" supersedes nothing of "${said}"`, async (t) => {
    t.equal(because(said, later), undefined)
  })
}

await t.test('the first person is the speaker', async (t) => {
  const [rome, milan] = ['I live in Rome.', 'I live in Milan.']
  t.equal(because(rome, milan, { speaker: 'Ann' }, { speaker: 'Bob' }), undefined)
  t.equal(because(rome, milan, { speaker: null }, { speaker: 'Ann' }), undefined)
  t.equal(because(rome, milan, { speaker: null }, { speaker: null }), 'place')
  t.equal(because(rome, 'Ann lives in Milan.', { speaker: 'Ann' }, { speaker: 'Bob' }), 'place')
  t.equal(because('Ann lives in Rome.', milan, { speaker: 'Bob' }, { speaker: 'Ann Lee' }), 'place')
  t.equal(because(rome, 'Carl lives in Milan.', { speaker: 'Ann' }, { speaker: 'Bob' }), undefined)
  t.equal(because(rome, 'The user lives in Milan.', { speaker: 'user' }, { speaker: 'assistant' }), 'place')
})

await t.test('what an assistant says of itself or of the world supersedes nothing', async (t) => {
  const speaker = 'assistant'
  t.equal(because('My favourite colour is blue.', 'My favourite colour is red.', { speaker }, { speaker }), undefined)
  t.equal(because('The user prefers tea.', 'The user prefers coffee.', { speaker }, { speaker }), 'value')
})

await t.test('a key that both have is enough, and other keys are none', async (t) => {
  t.equal(because('Plan: free', 'Plan: team', { key: 'acct/plan' }, { key: 'acct/plan' }), 'same_key')
  t.equal(because('Plan: free', 'Plan: team', { key: 'acct/plan' }, { key: 'acct/seats' }), undefined)
  t.equal(because('Plan: free', 'Plan: team', { key: null }, { key: null }), undefined)
})

await t.test('an earlier memory and one of lower trust supersede nothing', async (t) => {
  const [rome, milan] = ['I live in Rome.', 'I live in Milan.']
  t.equal(because(rome, milan, { occurredAt: 2 }, { occurredAt: 1 }), undefined)
  t.equal(because(rome, milan, { occurredAt: 1 }, { occurredAt: 1 }), 'place')
  t.equal(because(rome, milan, { trust: 'trusted' }, { trust: 'suspect' }), undefined)
  t.equal(because(rome, milan, { trust: 'suspect' }, { trust: 'trusted' }), 'place')
  t.equal(because(rome, milan, { key: 'k', trust: 'trusted' }, { key: 'k', trust: 'untrusted' }), undefined)
})

await t.test('the reason quotes both statements and not the rest of the texts', async (t) => {
  const found = findSuperseded(memory('What a week! I live in Milan now, at last.'), [
    { memoryId: '1', ...memory('I have a dog.') },
    { memoryId: '2', ...memory('It rained. I live in Rome.') },
  ])
  t.strictSame(found, [{
    memoryId: '2', because: 'place', detail: '"I live in Milan now" gives another place than "I live in Rome.".',
  }])
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(
    'I', 'we', 'my', 'the', "don't", 'no longer', 'used to', 'live', 'is', 'in', 'to', 'from', 'at', 'Rome', '3 pm',
    '12 May', '$5k', 'moved', 'and', ',', '.', 'not', 'quit', 'working', 'have', 'been', 'going', 'user', "Ann's", '#',
  ), { maxLength: 40 }).map((list) => list.join(' ')),
)

await t.test('any texts have the same answer twice, of candidates, each once', async () => {
  fc.assert(fc.property(anyText, fc.array(anyText, { maxLength: 5 }), (text, texts) => {
    const candidates = texts.map((one, place) => ({ memoryId: String(place), ...memory(one) }))
    const found = findSuperseded(memory(text), candidates)
    const ids = found.map(({ memoryId }) => memoryId)
    return JSON.stringify(found) === JSON.stringify(findSuperseded(memory(text), candidates)) &&
      new Set(ids).size === ids.length && ids.every((id) => Number(id) < texts.length) &&
      found.every(({ detail }) => detail.length < 400)
  }), { numRuns: 500 })
})

const HOSTILE = {
  clauses: 'I live in Rome, ',
  'claims of one subject': 'I live in Rome and I work at Acme. ',
  numbers: '1,111.11 ',
  versions: '1.1.1.1.1-',
  ordinals: '1st of may ',
  'rewritten words': 'I am going to be no longer instead of ',
  'quotes and marks': '"[(`',
  'one word': 'a',
  openings: 'hey there, ',
  spaces: ' ',
  negations: 'not never ',
  capitals: 'Ann Ann ',
}
await t.test('hostile texts of 50,000 characters take no longer than their beginning', async (t) => {
  for (const [name, part] of Object.entries(HOSTILE)) {
    const text = `I live in Milan. ${part.repeat(Math.ceil(50_000 / part.length))}`
    const candidates = Array.from({ length: 20 }, (_, place) => ({ memoryId: String(place), ...memory(text) }))
    const started = performance.now()
    findSuperseded(memory(text), candidates)
    t.ok(performance.now() - started < 500, `${name}: ${(performance.now() - started).toFixed(1)} ms`)
  }
})
