import { fileURLToPath } from 'node:url'
import { ESLint } from 'eslint'
import t from 'tap'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// The rules that need types would have the whole project read for each line.
const typed = ['no-floating-promises', 'no-misused-promises', 'switch-exhaustiveness-check', 'only-throw-error']
const eslint = new ESLint({
  cwd: ROOT,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false } },
    rules: Object.fromEntries(typed.map((name) => [`@typescript-eslint/${name}`, 'off'])),
  },
})

/** The rules that an import in a file of the project breaks. The file's own text is not looked at. */
async function broken (filePath: string, imported: string): Promise<string[]> {
  const [result] = await eslint.lintText(`import '${imported}'\n`, { filePath: `${ROOT}${filePath}` })
  return result!.messages.filter(({ severity }) => severity === 2).map(({ ruleId }) => String(ruleId))
}

const FORBIDDEN: Array<[file: string, imported: string]> = [
  ['lib/access/patterns.ts', '../operations/memory-service.js'],
  ['lib/access/context.ts', '../config/load.js'],
  ['lib/stores/in-memory/store.ts', '../../ranking/candidates.js'],
  ['lib/models/mock/language-model.ts', '../../stores/filters.js'],
  ['lib/answering/evidence.ts', '../operations/records.js'],
  ['lib/ranking/retriever.ts', '../config/schema.js'],
  ['lib/base/clock.ts', '../access/context.js'],
  ['lib/text/words.ts', '../stores/filters.js'],
  ['lib/operations/bank-browser.ts', '../../plugins/errors.js'],
  ['lib/operations/bank-browser.ts', '../../http/error-responses.js'],
  ['lib/operations/bank-browser.ts', 'fastify'],
]

const ALLOWED: Array<[file: string, imported: string]> = [
  ['lib/access/access-control.ts', '../base/clock.js'],
  ['lib/stores/in-memory/store.ts', '../../base/service-error.js'],
  ['lib/operations/bank-browser.ts', '../ranking/candidates.js'],
  ['lib/config/load.ts', '../access/context.js'],
]

for (const [file, imported] of FORBIDDEN) {
  await t.test(`${file} may not import ${imported}`, async (t) => {
    t.match(await broken(file, imported), ['@typescript-eslint/no-restricted-imports'])
  })
}

for (const [file, imported] of ALLOWED) {
  await t.test(`${file} may import ${imported}`, async (t) => {
    t.notOk((await broken(file, imported)).includes('@typescript-eslint/no-restricted-imports'))
  })
}
