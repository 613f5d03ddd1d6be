// Runs several compiled test files in this process, one after another, each as one test. Their names are in the
// variable TEST_FILES and not in the arguments, from which tap derives the names of the tests' folders.
import { t } from 'tap'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TARGET } from './compile-tests.mjs'
import { within } from './test-scope.mjs'

const TIMEOUT_MS = 900_000

for (const file of JSON.parse(process.env.TEST_FILES ?? '[]')) {
  t.test(file, { timeout: TIMEOUT_MS }, async (test) => {
    await within(test, async () => await import(pathToFileURL(join(TARGET, file.replace(/\.ts$/, '.js'))).href))
  })
}
