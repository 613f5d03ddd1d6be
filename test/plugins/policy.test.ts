import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { hitsOf, refusedFields } from '../routes/support.js'

async function memoryOf ({ get }: TestApp, bank: string, id: string): Promise<Record<string, unknown>> {
  return (await get(`/v1/banks/${bank}/memories/${id}`)).json()
}

await t.test('max_content_length', async (t) => {
  const { post } = await testApp(t, {
    file: {
      barriers: { validation: { max_content_length: 10 } },
      banks: {
        roomy: { barriers: { validation: { max_content_length: 60_000 } } },
        other: { barriers: { metadata: { blocked_keys: ['x'] } } },
      },
    },
  })
  const status = async (bank: string, content: string) => (
    (await post('/v1/retain', { bank_id: bank, content })).statusCode
  )

  await t.test('bounds the characters of the content after trimming', async (t) => {
    t.equal(await status('bank', 'a'.repeat(10)), 200)
    t.equal(await status('bank', `  ${'b'.repeat(10)}  `), 200)
    t.equal(await status('bank', '\u{1f511}'.repeat(10)), 200)
    refusedFields(t, await post('/v1/retain', { bank_id: 'bank', content: 'a'.repeat(11) }), 'content')
    refusedFields(
      t, await post('/v1/retain/batch', { bank_id: 'bank', items: [{ content: 'x' }, { content: 'a'.repeat(11) }] }),
      'items[1].content',
    )
  })
  await t.test('may be set for one bank, above the default too', async (t) => {
    t.equal(await status('roomy', 'a'.repeat(60_000)), 200)
    t.equal(await status('roomy', 'a'.repeat(60_001)), 400)
  })
  await t.test('holds for a bank that overrides something else', async (t) => {
    t.equal(await status('other', 'a'.repeat(11)), 400)
  })
})

await t.test('retain_max_content_bytes bounds the bytes of a content and answers 400', async (t) => {
  const { post } = await testApp(t, {
    file: {
      homeostasis: { retain_max_content_bytes: 10 }, banks: { wide: { homeostasis: { retain_max_content_bytes: 20 } } },
    },
  })
  t.equal((await post('/v1/retain', { bank_id: 'bank', content: ' ééééé ' })).statusCode, 200)
  refusedFields(t, await post('/v1/retain', { bank_id: 'bank', content: 'éééééé' }), 'content')
  t.equal((await post('/v1/retain', { bank_id: 'wide', content: 'éééééé' })).statusCode, 200)
  refusedFields(t, await post('/v1/retain', { bank_id: 'wide', content: 'e'.repeat(21) }), 'content')
})

await t.test('max_metadata_size_bytes', async (t) => {
  const { post } = await testApp(t, {
    file: {
      barriers: { metadata: { max_metadata_size_bytes: 20, blocked_keys: ['blob'] } },
      banks: { wide: { barriers: { metadata: { max_metadata_size_bytes: 10_000 } } } },
    },
  })
  const metadata = (bytes: number) => ({ k: 'v'.repeat(bytes - '{"k":""}'.length) })

  await t.test('bounds the bytes of the metadata as JSON', async (t) => {
    t.equal((await post('/v1/retain', { bank_id: 'bank', content: 'x', metadata: metadata(20) })).statusCode, 200)
    refusedFields(t, await post('/v1/retain', { bank_id: 'bank', content: 'x', metadata: metadata(21) }), 'metadata')
  })
  await t.test('may be set for one bank, above the default too', async (t) => {
    t.equal((await post('/v1/retain', { bank_id: 'wide', content: 'x', metadata: metadata(10_000) })).statusCode, 200)
    refusedFields(
      t, await post('/v1/retain', { bank_id: 'wide', content: 'x', metadata: metadata(10_001) }), 'metadata',
    )
  })
  await t.test('counts what remains after blocked keys are removed', async (t) => {
    t.match(
      (await post('/v1/retain', { bank_id: 'bank', content: 'y', metadata: { blob: 'b'.repeat(1000), k: 1 } })).json(),
      { stored: true, redactions: ['metadata.blob'] },
    )
  })
})

await t.test('blocked_keys', async (t) => {
  const app = await testApp(t, {
    file: {
      barriers: { metadata: { blocked_keys: ['password', 'SSN'] } },
      banks: {
        'free-*': { barriers: { metadata: { blocked_keys: [] } } },
        'free-not': { barriers: { metadata: { blocked_keys: ['colour'] } } },
        'free-not-*': { barriers: { metadata: { blocked_keys: ['shape'] } } },
        sized: { barriers: { metadata: { max_metadata_size_bytes: 50 } } },
      },
    },
  })
  const { post } = app
  const metadata = { password: 'hunter2', colour: 'red', shape: 'round' }

  await t.test('are removed before anything is stored, and named in redactions', async (t) => {
    const response = await post('/v1/retain', {
      bank_id: 'bank', content: 'Secret one.', metadata: { ...metadata, ssn: '1', Password: '2' },
    })
    t.match(response.json(), { stored: true, deduplicated: false })
    t.same([...response.json().redactions].sort(), ['metadata.Password', 'metadata.password', 'metadata.ssn'])
    t.same((await memoryOf(app, 'bank', response.json().memory_id))['metadata'], { colour: 'red', shape: 'round' })
    t.same(
      hitsOf(await post('/v1/recall', { bank_id: 'bank', query: 'secret', metadata: { password: 'hunter2' } })), [],
    )
    t.notMatch((await app.get('/v1/banks/bank/export')).body, /hunter2/)
  })

  await t.test('leave no redactions behind when there is nothing to remove', async (t) => {
    t.notOk(
      'redactions' in (await post('/v1/retain', {
        bank_id: 'bank', content: 'Plain.', metadata: { passwords: 1 },
      })).json(),
    )
    t.notOk('redactions' in (await post('/v1/retain', { bank_id: 'bank', content: 'Bare.' })).json())
  })

  await t.test('are reported for each item of a batch', async (t) => {
    const { results } = (await post('/v1/retain/batch', {
      bank_id: 'bank', items: [{ content: 'a' }, { content: 'b', metadata: { ssn: 1 } }],
    })).json()
    t.same(results.map((result: { redactions?: string[] }) => result.redactions), [undefined, ['metadata.ssn']])
  })

  await t.test('do not distinguish memories, because the content decides', async (t) => {
    const first = (await post('/v1/retain', { bank_id: 'twice', content: 'x', metadata: { password: 'a' } })).json()
    t.match((await post('/v1/retain', { bank_id: 'twice', content: 'x', metadata: { password: 'b' } })).json(), {
      deduplicated: true, memory_id: first.memory_id, redactions: ['metadata.password'],
    })
  })

  for (const [bank, removed] of Object.entries({
    bank: ['metadata.password'],
    'free-1': undefined,
    'free-not': ['metadata.colour'],
    'free-not-1': ['metadata.shape'],
    free: ['metadata.password'],
    sized: ['metadata.password'],
  })) {
    await t.test(`of the bank ${bank} are ${removed?.join(', ') ?? 'none'}: the literal name wins over a pattern, a ` +
      'longer pattern over a shorter', async (t) => {
      t.same((await post('/v1/retain', { bank_id: bank, content: 'Which?', metadata })).json().redactions, removed)
    })
  }
})
