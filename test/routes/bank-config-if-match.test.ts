import t from 'tap'
import { testApp } from '../helpers/app.js'
import { askConfig, getConfig, historyOf, putConfig } from './bank-configs.js'
import { refused, refusedFields } from './support.js'

await t.test('If-Match', async (t) => {
  const write = { PUT: { mission: 'New.' }, PATCH: { mission: 'New.' }, DELETE: undefined } as const
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    await t.test(`is respected by ${method}`, async (t) => {
      const app = await testApp(t)
      const ask = async (tag: string) => await askConfig(app, method, 'home', write[method], { 'if-match': tag })
      const isNow = async (config: Record<string, unknown>) => { t.same((await getConfig(app, 'home')).config, config) }

      refused(t, await ask('*'), 412, 'precondition_failed')
      refused(t, await ask('"r1"'), 412, 'precondition_failed')
      await isNow({})
      const { etag } = await putConfig(app, 'home', { mission: 'Old.' })
      for (const tag of [
        '"r0"', '"r999999"', '"x"', '""', `W/${etag}`, '"r01"', '"r0", "other"', '"r1e3"', '"a,b"', '"a,r1"', '","',
      ]) {
        refused(t, await ask(tag), 412, 'precondition_failed')
      }
      for (const tag of [
        etag.slice(1, -1), 'r1', '"r1', 'w/"r1"', `*, ${etag}`, `${etag} ${etag}`, ',', '', '"a b"', '"a,b',
      ]) {
        refusedFields(t, await ask(tag), 'If-Match')
      }
      await isNow({ mission: 'Old.' })
      t.equal((await historyOf(app, 'home')).length, 1)

      t.equal((await ask(etag)).statusCode, 200, 'the current entity tag')
      await isNow(method === 'DELETE' ? {} : { mission: 'New.' })
      refused(t, await ask(etag), 412, 'precondition_failed')
      const { etag: second } = await putConfig(app, 'home', { mission: 'Old.' })
      t.equal(
        (await ask(`"other", "a,b",${second} , W/"weak"`)).statusCode, 200,
        'a list that contains the current entity tag',
      )
      await putConfig(app, 'home', { mission: 'Old.' })
      t.equal((await ask(' * ')).statusCode, 200, '* matches any stored configuration')
    })
  }

  await t.test('with the entity tag of a bank without a configuration admits only the first of ' +
    'concurrent requests', async (t) => {
    const app = await testApp(t)
    const headers = { 'if-match': '"r0"' }
    const answers = await Promise.all([1, 2, 3, 4].map(async (tokens) => (
      await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: tokens } }, headers)
    )))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412])
  })
})

await t.test('If-None-Match', async (t) => {
  for (const method of ['PUT', 'PATCH'] as const) {
    await t.test(`lets ${method} only create a configuration`, async (t) => {
      const app = await testApp(t)
      const ask = async (headers: Record<string, string>) => (
        await askConfig(app, method, 'home', { mission: 'New.' }, headers)
      )
      for (const value of ['"r0"', '"r1"', 'x', '', '*, *']) {
        refusedFields(t, await ask({ 'if-none-match': value }), 'If-None-Match')
      }
      refusedFields(t, await ask({ 'if-none-match': '*', 'if-match': '"r0"' }), 'If-None-Match')
      t.same((await getConfig(app, 'home')).config, {})
      t.equal((await ask({ 'if-none-match': ' * ' })).statusCode, 200)
      refused(t, await ask({ 'if-none-match': '*' }), 412, 'precondition_failed', { detail: /If-None-Match/ })
      t.equal((await historyOf(app, 'home')).length, 1)
      await askConfig(app, 'DELETE', 'home')
      t.equal((await ask({ 'if-none-match': '*' })).statusCode, 200, 'again after a reset')
    })
  }

  await t.test('keeps DELETE from removing a configuration', async (t) => {
    const app = await testApp(t)
    await putConfig(app, 'home', { mission: 'Old.' })
    refused(t, await askConfig(app, 'DELETE', 'home', undefined, { 'if-none-match': '*' }), 412, 'precondition_failed')
    t.same((await getConfig(app, 'home')).config, { mission: 'Old.' })
  })

  await t.test('admits only the first of several requests', async (t) => {
    const app = await testApp(t)
    const answers = await Promise.all([1, 2, 3, 4].map(async (tokens) => (
      await askConfig(app, 'PUT', 'home', { homeostasis: { recall_max_tokens: tokens } }, { 'if-none-match': '*' })
    )))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412])
  })
})
