import t from 'tap'
import {
  boundedLanguageModel, type BoundedLanguageModelOptions, type LimitedModel,
} from '../../../lib/models/bounded-models.js'
import type { GenerateRequest, Generation, LanguageModel } from '../../../lib/models/language-model.js'
import { ModelCallError } from '../../../lib/models/remote/model-call-error.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { answering, says, silent, startLanguageServer } from '../../helpers/language-server.js'
import { ask, failureOf, openBounded, PROVIDERS, read } from './language-support.js'
import { gate } from '../../helpers/waiting.js'
import { failure, NEVER } from './remote-support.js'

const ANSWER: Generation = { text: 'It is so. [1]', usage: { inputTokens: 1, outputTokens: 1 } }
const breaker = { threshold: 2, recoveryMs: 1000, halfOpenCalls: 1 }

function bounded (
  model: LanguageModel & LimitedModel, options: Partial<BoundedLanguageModelOptions> = {},
): LanguageModel {
  return boundedLanguageModel(model, {
    breaker, ceilingMs: () => 60_000, ...options, tools: { sleep: async () => {}, timer: () => 0, ...options.tools },
  })
}

t.test('a model keeps its name, its forms and its way to stream', async (t) => {
  const { model, structured, stream } = bounded({ model: 'small', structured: false, generate: async () => ANSWER })
  t.strictSame([model, structured, stream], ['small', false, undefined])
  t.strictSame(Object.keys(bounded({ generate: async () => ANSWER })).sort(), ['close', 'generate', 'status'])
})

t.test('the request reaches the model unchanged, except for the signal', async (t) => {
  const seen: GenerateRequest[] = []
  const request = ask({ responseSchema: { type: 'object' }, timeoutMs: 5000, tenantId: 'a' })
  t.equal(
    await bounded({ generate: async (request) => { seen.push(request); return ANSWER } }).generate(request), ANSWER,
  )
  const [{ signal, ...rest }] = seen as [GenerateRequest]
  t.strictSame(rest, request)
  t.ok(signal instanceof AbortSignal)
})

t.test('the output of a model is left to the caller, whatever it is', async (t) => {
  t.strictSame(await bounded({ generate: async () => ({ text: '' }) as Generation }).generate(ask()), { text: '' })
})

t.test('an unexpected error of a model is a fault, is not retried and is passed on unchanged', async (t) => {
  let attempts = 0
  const model = bounded({ generate: async () => { attempts++; throw new RangeError('a mistake') } })
  for (let call = 0; call < 2; call++) await t.rejects(model.generate(ask()), new RangeError('a mistake'))
  t.equal(attempts, 2)
  t.equal((await failureOf(model.generate(ask()))).kind, 'circuit_open')
})

t.test('limits', async (t) => {
  t.test('the limits of the model hold', async (t) => {
    const { opened, open } = gate()
    const model = bounded({
      limits: { maxConcurrency: 1, maxWaiting: 0, maxRetries: 0 },
      generate: async () => {
        await opened
        return ANSWER
      },
    })
    const held = model.generate(ask())
    t.strictSame(model.status?.(), { breaker: { state: 'closed', tenantsOpen: 0 }, running: 1, waiting: 0 })
    const refused = await failureOf(model.generate(ask()))
    t.strictSame(
      [refused.kind, refused.retryAfterMs, refused.message],
      ['overloaded', 1000, 'All 1 calls to the language model are under way and 0 wait'],
    )
    open()
    await held
  })

  t.test('without limits there are two further attempts', async (t) => {
    let attempts = 0
    const model = bounded(
      { generate: async () => { attempts++; throw failure('unreachable') } },
      { breaker: { ...breaker, threshold: 100 } },
    )
    t.equal((await failureOf(model.generate(ask()))).kind, 'unreachable')
    t.equal(attempts, 3)
  })

  t.test('invalid limits end the start', async (t) => {
    for (const [limits, name] of [
      [{ maxRetries: -1 }, 'maxRetries'], [{ attemptTimeoutMs: 0 }, 'attemptTimeoutMs'],
      [{ maxConcurrency: 1.5 }, 'maxConcurrency'], [{ maxWaiting: NaN }, 'maxWaiting'],
    ] as const) {
      t.throws(
        () => bounded({ limits, generate: async () => ANSWER }),
        new ProviderError(`llm_provider: limits.${name} must be a whole number of at least ` +
          `${['maxRetries', 'maxWaiting'].includes(name) ? 0 : 1}`),
      )
    }
  })
})

t.test('time', async (t) => {
  t.test('a model that does not answer is a fault before the longest deadline, and its circuit opens', async (t) => {
    const model = bounded({ limits: { maxRetries: 0 }, generate: async () => await NEVER }, { ceilingMs: () => 40 })
    for (let call = 0; call < 2; call++) {
      await t.rejects(model.generate(ask({ timeoutMs: 40 })), new ModelCallError(
        'timeout', 'The language model did not answer within 30 ms',
      ))
    }
    t.equal((await failureOf(model.generate(ask({ timeoutMs: 40 })))).kind, 'circuit_open')
  })

  t.test('a changed longest deadline bounds the next call', async (t) => {
    let ceilingMs = 40
    const model = bounded({ limits: { maxRetries: 0 }, generate: async () => await NEVER }, {
      ceilingMs: () => ceilingMs, breaker: { ...breaker, threshold: 100 },
    })
    for (const [next, bound] of [[40, 30], [20, 15], [60, 45]] as const) {
      ceilingMs = next
      await t.rejects(model.generate(ask()), new ModelCallError(
        'timeout', `The language model did not answer within ${bound} ms`,
      ))
    }
  })

  t.test('short deadlines of callers do not open the circuit', async (t) => {
    const model = bounded({ generate: async () => await NEVER })
    for (let call = 0; call < 4; call++) {
      t.equal((await failureOf(model.generate(ask({ timeoutMs: 10 })))).kind, 'timeout')
    }
    t.equal(model.status?.().breaker?.state, 'closed')
  })
})

t.test('streams', async (t) => {
  t.test('a first text ends the attempts, and the end of the stream ends the call', async (t) => {
    let attempts = 0
    const model = bounded({
      generate: async () => ANSWER,
      stream: async function * () {
        if (attempts++ === 0) throw failure('unreachable')
        yield { type: 'text', text: 'It ' }
        yield { type: 'text', text: 'is so.' }
        yield { type: 'end', usage: ANSWER.usage }
      },
    })
    t.strictSame(await read(model.stream!(ask())), { text: 'It is so.', end: { type: 'end', usage: ANSWER.usage } })
    t.equal(attempts, 2)
    t.equal(model.status?.().running, 0)
  })

  t.test('faults in the middle open the circuit of the tenant and of the model', async (t) => {
    const model = bounded({
      generate: async () => ANSWER,
      stream: async function * () {
        yield { type: 'text', text: 'It ' }
        throw failure('unreachable')
      },
    })
    for (let call = 0; call < 2; call++) {
      t.match(await read(model.stream!(ask({ tenantId: 'a' }))), { text: 'It ', error: { kind: 'unreachable' } })
    }
    t.strictSame(model.status?.().breaker, { state: 'open', tenantsOpen: 1 })
    t.equal((await failureOf(model.generate(ask({ tenantId: 'b' })))).kind, 'circuit_open')
  })
})

t.test('closing ends calls in progress and closes the model', async (t) => {
  let closed = 0
  const model = bounded({ generate: async () => await NEVER, close: async () => { closed++ } })
  const call = model.generate(ask())
  await model.close?.()
  t.match(await failureOf(call), { message: /the provider is closed/ })
  t.equal(closed, 1)
})

t.test('over HTTP', async (t) => {
  for (const provider of PROVIDERS) {
    t.test(`${provider.name}: one tenant's unusable answers leave the model to the others`, async (t) => {
      const server = await startLanguageServer(t)
      const model = await openBounded(server, provider)
      server.always((request, response) => says(request.user.includes('bad') ? '' : 'Fine. [1]')(request, response))
      const bad = ask({ tenantId: 'a', messages: [{ role: 'user', content: 'bad' }] })
      const kinds: string[] = []
      for (let call = 0; call < 101; call++) kinds.push((await failureOf(model.generate(bad))).kind)
      t.strictSame([kinds[0], kinds[99], kinds[100]], ['unusable', 'unusable', 'circuit_open'])
      t.equal((await model.generate(ask({ tenantId: 'b' }))).text, 'Fine. [1]')
      t.equal(server.requests.length, 101)
    })

    t.test(`${provider.name}: a request that is refused or has too short a deadline is no fault`, async (t) => {
      const server = await startLanguageServer(t)
      const model = await openBounded(server, provider, { max_retries: 0 })
      for (const status of [400, 404, 413, 422, 429]) {
        server.always(answering(status, ''))
        for (let call = 0; call < 25; call++) await failureOf(model.generate(ask()))
      }
      server.next(silent)
      t.equal((await failureOf(model.generate(ask({ timeoutMs: 20 })))).kind, 'timeout')
      t.equal(model.status?.().breaker?.state, 'closed')
    })

    t.test(`${provider.name}: a refused key opens the circuit`, async (t) => {
      const server = await startLanguageServer(t)
      const model = await openBounded(server, provider)
      server.always(answering(401, ''))
      for (let call = 0; call < 100; call++) await failureOf(model.generate(ask()))
      t.equal(model.status?.().breaker?.state, 'open')
    })
  }
})
