import { makeRemoteEmbeddingProvider } from '../../../lib/models/remote/embedding-provider.js'
import { answering, DIMENSIONS, embeddings, vectorOf } from '../../helpers/model-server.js'
import { ENDPOINT_FAULTS } from './endpoint-faults.js'
import { config, testFaults, TEXT, tools, type Fault } from './provider-faults.js'

const json = (vectors: unknown[]) => answering(200, JSON.stringify(embeddings(vectors)))
const vector = vectorOf(TEXT)

const EMBEDDING: Fault[] = [
  { name: 'no vector', script: [json([])], outcome: ['unusable', /0 vectors for 1 texts/], asked: 1 },
  {
    name: 'a vector too many',
    script: [json([vector, vector])],
    outcome: ['unusable', /2 vectors for 1 texts/],
    asked: 1,
  },
  {
    name: 'a shorter vector',
    script: [json([[1, 2, 3]])],
    outcome: ['unusable', /a vector of 3 dimensions instead of 8/],
    asked: 1,
  },
  {
    name: 'an empty vector',
    script: [json([[]])],
    outcome: ['unusable', /a vector of 0 dimensions instead of 8/],
    asked: 1,
  },
  {
    name: 'null in a vector',
    script: [json([[null, ...vector.slice(1)]])],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'NaN in a vector',
    script: [answering(200, `{"data":[{"embedding":[NaN,${vector.slice(1).join()}]}]}`)],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'an infinite number',
    script: [answering(200, `{"data":[{"embedding":[1e999,${vector.slice(1).join()}]}]}`)],
    outcome: ['unusable', /something else than embeddings/],
    asked: 1,
  },
  {
    name: 'a number beyond single precision',
    script: [json([[1e39, ...vector.slice(1)]])],
    outcome: ['unusable', /a number that is too big/],
    asked: 1,
  },
  {
    name: 'base64', script: [json(['AACAPwAAAEA='])], outcome: ['unusable', /something else than embeddings/], asked: 1,
  },
  {
    name: 'usage without the member that the SDK wants',
    script: [answering(200, JSON.stringify({ data: [{ embedding: vector }], usage: { total_tokens: 3 } }))],
    outcome: 'right',
    asked: 1,
  },
  {
    name: 'an index that starts at 1',
    script: [answering(200, JSON.stringify({ data: [{ index: 1, embedding: vector }] }))],
    outcome: 'right',
    asked: 1,
  },
]

testFaults('embeddings', [...ENDPOINT_FAULTS, ...EMBEDDING], async (server, circumstances = {}) => {
  const provider = await makeRemoteEmbeddingProvider(
    { ...config(server, circumstances), dimensions: DIMENSIONS }, { baseDirectory: '/' }, tools(circumstances),
  )
  return async (signal) => {
    const [found] = await provider.embed([TEXT], signal === undefined ? {} : { signal })
    return found !== undefined && found.every((value, index) => value === vector[index])
  }
})
