import { ROOT_CONTEXT } from '@opentelemetry/api'
import t from 'tap'
import { startExporting } from '../../plugins/tracing/exporting.js'
import { silent } from '../helpers/scripted-server.js'
import { startCollector } from '../helpers/trace-collector.js'

await t.test('the shutdown does not wait for a collector that never answers', async (t) => {
  t.teardown(() => { delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] })
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '200'
  const collector = await startCollector(t)
  collector.always(silent)
  const { tracer, close } = startExporting({
    url: `${collector.url}/traces`, version: '1.0.0', warn: () => {}, info: () => {}, flushMs: 1,
  })
  tracer.startSpan('work', {}, ROOT_CONTEXT).end()
  await close()
  t.pass('it has ended')
})

await t.test('the shutdown sends the remaining spans', async (t) => {
  const collector = await startCollector(t)
  const { tracer, close } = startExporting({
    url: `${collector.url}/traces`, version: '1.0.0', warn: () => {}, info: () => {},
  })
  tracer.startSpan('work', {}, ROOT_CONTEXT).end()
  t.equal(collector.requests.length, 0)
  await close()
  t.same(collector.spans.map(({ name }) => name), ['work'])
})
