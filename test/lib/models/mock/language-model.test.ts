import t from 'tap'
import { MockLanguageModel } from '../../../../lib/models/mock/language-model.js'
import { countTokens } from '../../../../lib/text/tokens.js'
import { evidence, languageModelContract, request } from '../../../contract/language-model.js'

languageModelContract('MockLanguageModel', async () => new MockLanguageModel(), { extractive: true, runs: 100 })

async function answer (question: string, texts: string[], maxTokens?: number): Promise<string> {
  return (await new MockLanguageModel().generate(request(question, evidence(...texts), maxTokens))).text
}

t.test('the answer is the sentences that share the rarest words with the question', async (t) => {
  t.equal(await answer('Which instrument does Alice play?', [
    'Alice is kind. Alice lives in Lyon.',
    'Alice likes to play the cello, her favourite instrument. She bought it in 2019.',
    'Bob bought a boat.',
  ]), 'Alice likes to play the cello, her favourite instrument. [2]')
})

t.test('an answer has at most three sentences, of equal ones the first', async (t) => {
  t.equal(await answer('apple', ['Apple one. Apple two.', 'Apple three.', 'Apple four.']), 'Apple one. [1] Apple two. [1] Apple three. [2]')
})

t.test('when no sentence shares a word with the question the best evidence speaks', async (t) => {
  t.equal(await answer('Who is the physician?', ['Alice saw her doctor. It was raining.', 'Bob was there.']), 'Alice saw her doctor. [1]')
})

t.test('a ceiling that leaves no room for a whole sentence cuts the first between words, and says so', async (t) => {
  const text = await answer('apple', [`apple ${'and another word '.repeat(50)}.`], 20)
  t.match(text, /^apple and another.* … \[1\]$/)
  t.ok(countTokens(text) <= 20)
})

t.test('a ceiling that leaves no room for a word cuts inside the word', async (t) => {
  const word = 'antidisestablishmentarianism'.repeat(20)
  const text = await answer('apple', [word], 10)
  t.ok(countTokens(text) <= 10)
  t.match(text, /^antidis\w* … \[1\]$/)
  t.ok(word.startsWith(text.slice(0, text.indexOf(' '))))
})

t.test('even the least ceiling holds', async (t) => {
  for (const words of ['Alice lives in Lyon.', '👩‍👩‍👧👩‍👩‍👧', '東京に行きます']) {
    for (let maxTokens = 1; maxTokens <= 8; maxTokens++) {
      const text = await answer('?', [words], maxTokens)
      t.ok(text !== '' && countTokens(text) <= maxTokens, `${maxTokens}: ${text}`)
      t.ok(text.isWellFormed())
    }
  }
})

t.test('tokens are counted over the prompt and the answer', async (t) => {
  const asked = request('Where does Alice live?', evidence('Alice lives in Lyon.'))
  const { text, usage } = await new MockLanguageModel().generate(asked)
  t.equal(usage.inputTokens, asked.messages.reduce((sum, { content }) => sum + countTokens(content), 0))
  t.equal(usage.outputTokens, countTokens(text))
})
