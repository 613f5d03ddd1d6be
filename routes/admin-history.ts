import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { instantField } from '../lib/operations/records.js'
import { formatInstant } from '../lib/base/clock.js'
import { STEP_MS, type HistorySample } from '../lib/base/request-history.js'
import { answers, ROUTE_ERRORS } from './responses.js'

const milliseconds = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description })

const AdminHistoryQuery = Type.Object({
  since: Type.Optional(Type.String({
    format: 'date-time', description: 'Only steps that began at or after this instant. RFC 3339 with an offset.',
  })),
}, { additionalProperties: false })

const AdminHistoryAnswer = Type.Object({
  interval_seconds: Type.Integer(),
  samples: Type.Array(Type.Object({
    at: Type.String({ format: 'date-time', description: 'When the step began.' }),
    requests: Type.Integer({
      description: 'Number of requests of callers and webhook sources that ended in the step.',
    }),
    client_errors: Type.Integer({
      description: 'Requests with a status from 400 to 499, and requests whose client disconnected.',
    }),
    server_errors: Type.Integer({ description: 'Requests with a status of 500 or higher.' }),
    p50_ms: milliseconds('Median duration, accurate to 12 percent; null without requests.'),
    p90_ms: milliseconds('90th percentile of the durations, accurate to 12 percent; null without requests.'),
    p99_ms: milliseconds('99th percentile of the durations, accurate to 12 percent; null without requests.'),
    max_ms: milliseconds('Longest duration; null without requests.'),
    rss_bytes: Type.Integer({ description: 'Resident memory of the process.' }),
    heap_used_bytes: Type.Integer({ description: 'Memory that the JavaScript heap uses.' }),
  }, { title: 'HistorySample' }), {
    description: 'The steps of the last hour, oldest first. The last step has not ended yet.',
  }),
}, {
  title: 'RequestHistory',
  description: 'Requests, their durations and memory use, in steps.',
  examples: [{
    interval_seconds: 10,
    samples: [{
      at: '2026-01-05T09:30:00.000Z',
      requests: 12,
      client_errors: 1,
      server_errors: 0,
      p50_ms: 1.5,
      p90_ms: 4.2,
      p99_ms: 8.9,
      max_ms: 9.3,
      rss_bytes: 130_000_000,
      heap_used_bytes: 60_000_000,
    }],
  }],
})

export const adminHistoryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/v1/admin/history', {
    config: { scope: 'admin' },
    schema: {
      operationId: 'adminGetHistory',
      tags: ['admin'],
      summary: 'Get requests, durations and memory use over the last hour',
      description: 'Covers only this process, since its start.',
      querystring: AdminHistoryQuery,
      response: answers({ 200: AdminHistoryAnswer }, [
        'invalid_request', 'unauthenticated', 'internal_error', ...ROUTE_ERRORS,
      ]),
    },
  }, async ({ query: { since } }) => ({
    interval_seconds: STEP_MS / 1000,
    samples: app.requestHistory.samples(since === undefined ? undefined : instantField('since', since)).map(toSample),
  }))
}

function toSample ({ at, requests, clientErrors, serverErrors, p50, p90, p99, longest, memory }: HistorySample) {
  return {
    at: formatInstant(at),
    requests,
    client_errors: clientErrors,
    server_errors: serverErrors,
    p50_ms: p50,
    p90_ms: p90,
    p99_ms: p99,
    max_ms: longest,
    rss_bytes: memory.rss,
    heap_used_bytes: memory.heapUsed,
  }
}
