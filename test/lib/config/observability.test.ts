import t from 'tap'
import { load, problems } from './load-with.js'

await t.test('SERVICES_METRICS_PORT is a port, unset by default', async (t) => {
  t.equal(load({}).metricsPort, undefined)
  t.equal(load({ SERVICES_METRICS_PORT: '9464' }).metricsPort, 9464)
  t.equal(load({ SERVICES_METRICS_PORT: '0', SERVICES_PORT: '0' }).metricsPort, 0)
  t.same(problems({ SERVICES_METRICS_PORT: '65536' }), ['SERVICES_METRICS_PORT: found "65536", allowed is an integer ' +
    'from 0 to 65535'])
  t.same(problems({ SERVICES_METRICS_PORT: '' }), ['SERVICES_METRICS_PORT is set but empty; unset it or ' +
    'give it a value'])
  t.same(problems({ SERVICE_METRICS_PORT: '1' }), ['SERVICE_METRICS_PORT is not a known variable; did you mean ' +
    'SERVICES_METRICS_PORT?'])
})

await t.test('metrics cannot have the gateway\'s own port', async (t) => {
  t.same(problems({ SERVICES_METRICS_PORT: '8080' }), ['SERVICES_METRICS_PORT: found "8080", which is SERVICES_PORT, ' +
    'allowed is another port'])
  t.same(problems({ SERVICES_METRICS_PORT: '8080', SERVICES_PORT: '8081' }), [])
})

const ALL = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'

await t.test('traces go where OpenTelemetry\'s variables say', async (t) => {
  const cases: Array<[env: Record<string, string>, url: string | undefined]> = [
    [{}, undefined],
    [{ [ALL]: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
    [{ [ALL]: 'http://collector:4318/' }, 'http://collector:4318/v1/traces'],
    [{ [ALL]: ' https://otel.example/in/put ' }, 'https://otel.example/in/put/v1/traces'],
    [{ [TRACES]: 'http://collector:4318/x' }, 'http://collector:4318/x'],
    [{ [TRACES]: 'http://a/x', [ALL]: 'http://b' }, 'http://a/x'],
    [{ [ALL]: '', [TRACES]: ' ' }, undefined],
    [{ [ALL]: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, undefined],
    [{ [ALL]: 'http://collector:4318', OTEL_SDK_DISABLED: ' TRUE ' }, undefined],
    [{ [ALL]: 'http://collector:4318', OTEL_SDK_DISABLED: '1' }, 'http://collector:4318/v1/traces'],
    [{ [ALL]: 'http://collector:4318', OTEL_SDK_DISABLED: '' }, 'http://collector:4318/v1/traces'],
    [{ [ALL]: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, undefined],
    [{ [ALL]: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'console' }, 'http://collector:4318/v1/traces'],
  ]
  for (const [env, url] of cases) t.equal(load(env).tracesUrl, url, JSON.stringify(env))
})

await t.test('an address that cannot be used is a problem that does not repeat it', async (t) => {
  for (const name of [ALL, TRACES]) {
    const sentence = (fault: string) => [`${name}: found ${fault}, allowed is the http or https URL of a collector, ` +
      'without credentials']
    t.same(problems({ [name]: 'collector:four' }), sentence('a URL of another kind'))
    t.same(problems({ [name]: 'collector' }), sentence('something that is not a URL'))
    t.same(problems({ [name]: 'grpc://collector:4317' }), sentence('a URL of another kind'))
    t.same(problems({ [name]: 'http://user:hunter2@collector:4318' }), sentence('a URL of another kind'))
    t.same(problems({ [name]: 'collector', OTEL_SDK_DISABLED: 'true' }), [])
  }
})

await t.test('other variables of OpenTelemetry cause no warning', async (t) => {
  t.same(
    load({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on', OTEL_EXPORTER_OTLP_ENDPOIN: 'x' }).warnings,
    load({}).warnings,
  )
})

await t.test('variables of OpenTelemetry that ask for what is not supported cause a warning', async (t) => {
  const warned = (env: Record<string, string>) => (
    load({ [ALL]: 'http://collector:4318', ...env }).warnings.filter((warning) => /^OTEL_/.test(warning))
  )
  t.same(warned({
    OTEL_TRACES_EXPORTER: 'otlp,console', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_PROPAGATORS: 'b3',
  }), [
    'OTEL_TRACES_EXPORTER: the value has no effect, the gateway supports only otlp',
    'OTEL_EXPORTER_OTLP_PROTOCOL: the value has no effect, the gateway supports only http/json',
    'OTEL_PROPAGATORS: the value has no effect, the gateway supports only tracecontext and baggage',
  ])
  t.same(warned({
    OTEL_TRACES_EXPORTER: 'OTLP', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_PROPAGATORS: 'tracecontext, baggage',
  }), [])
  t.same(warned({ [ALL]: '', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), [], 'without traces nothing is ignored')
})
