import { makeRemoteReranker } from '../../../lib/models/remote/reranker.js'
import { answering } from '../../helpers/model-server.js'
import { ENDPOINT_FAULTS } from './endpoint-faults.js'
import { config, testFaults, TEXT, tools, type Fault } from './provider-faults.js'

const scores = (value: unknown) => answering(200, JSON.stringify(value))

const RERANKING: Fault[] = [
  {
    name: 'no result',
    script: [scores({ results: [] })],
    outcome: ['unusable', /something else than one score for each text/],
    asked: 1,
  },
  {
    name: 'an index that there is not',
    script: [scores({ results: [{ index: 1, relevance_score: 1 }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a result too many',
    script: [scores({ results: [{ index: 0, relevance_score: 1 }, { index: 0, relevance_score: 1 }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a score that is null',
    script: [scores({ results: [{ index: 0, relevance_score: null }] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'an infinite score',
    script: [answering(200, '{"results":[{"index":0,"relevance_score":1e999}]}')],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'a score as text',
    script: [scores([{ index: 0, score: '1' }])],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
  {
    name: 'results that are null',
    script: [scores({ results: [null] })],
    outcome: ['unusable', /something else/],
    asked: 1,
  },
]

testFaults('reranking', [...ENDPOINT_FAULTS, ...RERANKING], async (server, circumstances = {}) => {
  const reranker = makeRemoteReranker(config(server, circumstances), { baseDirectory: '/' }, tools(circumstances))
  return async (signal) => {
    const [found] = await reranker.rerank('spare key', [TEXT], signal === undefined ? {} : { signal })
    return found === 2
  }
})
