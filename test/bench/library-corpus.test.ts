import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConversations } from '../../bench/recall/conversation.js'
import { makeCorpus } from '../../bench/recall/library-corpus.js'

const conversations = await loadConversations(fileURLToPath(new URL(
  '../../bench/recall/own-conversation.json', import.meta.url,
)))
const wordsOf = (texts: readonly string[]) => texts.flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? [])

await t.test('a corpus has the requested number of memories, in documents of 20, and is reproducible', async (t) => {
  const corpus = makeCorpus(conversations, 405)
  t.equal(corpus.memories.length, 405)
  t.equal(new Set(corpus.memories.map(({ documentId }) => documentId)).size, 21)
  t.equal(corpus.memories.filter(({ documentId }) => documentId === 'document-3').length, 20)
  t.strictSame(makeCorpus(conversations, 405), corpus)
})

await t.test('the first copy is the conversation itself, and later ones differ from it', async (t) => {
  const { memories } = makeCorpus(conversations, 2 * 134)
  t.equal(
    memories[4]?.content,
    'Marta: The Heron. Fifty-two feet, dark green, built in 1987. The name was on her already and I like it.',
  )
  t.not(memories[134]?.content, memories[0]?.content)
  t.notMatch(memories[138]?.content, /Marta|Heron/)
})

await t.test('the number of different words grows more slowly than the number of texts', async (t) => {
  const distinct = (size: number) =>
    new Set(wordsOf(makeCorpus(conversations, size).memories.map(({ content }) => content))).size
  const [small, large] = [distinct(134), distinct(1340)]
  t.ok(large > 2 * small && large < 5 * small, `${small} and ${large}`)
})

await t.test('a question of a copy is about names of that copy', async (t) => {
  const { memories, queries } = makeCorpus(conversations, 2 * 134)
  const [first, second] = [queries.slice(0, 42), queries.slice(42)]
  t.equal(second.length, 42)
  const name = /of (\p{Lu}\p{L}+)'s/u
  t.equal(name.exec(first[0]!)?.[1], 'Marta')
  const other = name.exec(second[0]!)?.[1]
  t.ok(other !== undefined && memories[134]!.content.startsWith(`${other}: `), String(other))
  t.equal(memories[135]!.content.startsWith(`${other}: `), false, 'the other speaker has another name')
})
