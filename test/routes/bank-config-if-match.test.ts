import t from 'tap'
import { testApp } from '../helpers/app.js'
import { askConfig, getConfig, historyOf, putConfig } from './bank-configs.js'
import { refused, refusedFields } from './support.js'

await t.test('If-Match', async (t) => {
  const write = { PUT: { mission: 'New.' }, PATCH: { mission: 'New.' }, DELETE: undefined } as const
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    await t.test(`is honoured by ${method}`, async (t) => {
      const app = await testApp(t)
      const ask = async (tag: string) => await askConfig(app, method, 'home', write[method], { 'if-match': tag })
      const isNow = async (config: Record<string, unknown>) => { t.same((await getConfig(app, 'home')).config, config) }

      refused(t, await ask('*'), 412, 'precondition_failed')
      refused(t, await ask('"r1"'), 412, 'precondition_failed')
      await isNow({})
      const { etag } = await putConfig(app, 'home', { mission: 'Old.' })
      for (const tag of ['"r0"', '"r999999"', '"x"', '""', `W/${etag}`, '"r01"', '"r0", "other"', '"r1e3"']) {
        refused(t, await ask(tag), 412, 'precondition_failed')
      }
      for (const tag of [etag.slice(1, -1), 'r1', '"r1', 'w/"r1"', `*, ${etag}`, `${etag} ${etag}`, ',', '', '"a b"']) {
        refusedFields(t, await ask(tag), 'If-Match')
      }
      await isNow({ mission: 'Old.' })
      t.equal((await historyOf(app, 'home')).length, 1)

      t.equal((await ask(etag)).statusCode, 200, 'the current entity tag')
      await isNow(method === 'DELETE' ? {} : { mission: 'New.' })
      refused(t, await ask(etag), 412, 'precondition_failed')
      const { etag: second } = await putConfig(app, 'home', { mission: 'Old.' })
      t.equal((await ask(`"other", ${second} , W/"weak"`)).statusCode, 200, 'a list that contains the current entity tag')
      await putConfig(app, 'home', { mission: 'Old.' })
      t.equal((await ask(' * ')).statusCode, 200, '* matches any stored configuration')
    })
  }

  await t.test('with the entity tag of a bank without a configuration admits only the first of concurrent requests', async (t) => {
    const app = await testApp(t)
    const headers = { 'if-match': '"r0"' }
    const answers = await Promise.all([1, 2, 3, 4].map(async (tokens) => await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: tokens } }, headers)))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412])
  })
})
