// The worker thread of PGlite, whose WASM blocks its thread while a statement runs.
// Plain JavaScript, because the worker loads the file without compilation, both from the sources and from dist/.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A message to the thread. Requests are processed one at a time, in order of arrival.
 * @typedef {object} Request
 * @property {number} id
 * @property {'query' | 'script' | 'close'} kind
 * @property {string} text
 * @property {ReadonlyArray<string | number | boolean | null | ReadonlyArray<string | null>>} params
 */

/**
 * A message from the thread; the reply to the opening has the id 0. After `fatal` there are no further replies, and the
 * thread must be ended.
 * @typedef {{ id: number, rows: object[] }
 *   | { id: number, error: { code: string, message: string, constraint: string | undefined } }
 *   | { id: number, fatal: string, missing?: true }} Reply
 */

const SQLSTATE = /^[0-9A-Z]{5}$/
/** Insufficient resources, operator intervention, system and internal errors: their messages contain no row data. */
const OF_THE_SERVER = /^(53|57|58|XX)/
const BOOL = 16
const BYTEA = 17
/** Parameters are already text; PGlite's serializers of these two types would reject text that PostgreSQL accepts. */
const serializers = { [BOOL]: String, [BYTEA]: String }

/** @type {import('@electric-sql/pglite').PGlite | undefined} */
let database
let lost = false
let turn = answer(0, open)

parentPort.on('message', (/** @type {Request} */ request) => {
  turn = turn.then(async () => await answer(request.id, async () => await run(request)))
})

/**
 * @param {number} id
 * @param {() => Promise<object[]>} work
 */
async function answer (id, work) {
  if (lost) return
  try {
    post({ id, rows: await work() })
  } catch (error) {
    if (SQLSTATE.test(error?.code) && error.severity === 'ERROR') {
      // The rest is left out: the error also contains the statement and its parameters, and its detail a row.
      post({ id, error: { code: error.code, message: error.message, constraint: error.constraint } })
      return
    }
    // PostgreSQL terminated (FATAL, PANIC), or the WASM failed: another statement could crash the whole process.
    lost = true
    post({ id, fatal: reason(error, id === 0), ...(error?.code === 'ERR_MODULE_NOT_FOUND' && { missing: true }) })
  }
}

/** @param {Reply} reply */
function post (reply) {
  parentPort.postMessage(reply)
}

async function open () {
  const { PGlite } = await import('@electric-sql/pglite')
  const { vector } = await import('@electric-sql/pglite-pgvector')
  const { directory } = workerData
  const extensions = { vector }
  if (!existsSync(`${directory}/PG_VERSION`)) {
    // Created under another name, so that an interrupted start does not leave an incomplete cluster.
    const unfinished = `${directory}.new`
    rmSync(unfinished, { recursive: true, force: true })
    await (await PGlite.create({ dataDir: `file://${unfinished}`, extensions })).close()
    renameSync(unfinished, directory)
  }
  database = await PGlite.create({ dataDir: `file://${directory}`, extensions })
  // A generic plan cannot distinguish small banks from large ones, nor use the partial index of a large bank.
  await database.exec('set plan_cache_mode = force_custom_plan; set enable_seqscan = off')
  return []
}

/**
 * @param {Request} request
 * @returns {Promise<object[]>}
 */
async function run ({ kind, text, params }) {
  if (kind === 'query') return (await database.query(text, params.map(toText), { serializers })).rows
  if (kind === 'script') await database.exec(text)
  else await database.close()
  return []
}

/** @param {Request['params'][number]} param */
function toText (param) {
  if (param === null) return null
  return Array.isArray(param) ? `{${param.map(toElement).join(',')}}` : String(param)
}

/** @param {string | null} element */
function toElement (element) {
  return element === null ? 'NULL' : `"${element.replaceAll(/["\\]/g, '\\$&')}"`
}

/**
 * Why the database is lost, without parameters or row data. While it opens, there are none.
 * @param {unknown} error
 * @param {boolean} opening
 */
function reason (error, opening) {
  if (!(error instanceof Error)) return opening ? String(error) : 'an unknown error'
  const harmless = opening || error instanceof WebAssembly.RuntimeError || OF_THE_SERVER.test(error.code) ||
    /^(Aborted|PGlite is)\b/.test(error.message)
  const said = [error.severity ?? error.name, error.code].filter((part) => part !== undefined).join(' ')
  return harmless ? `${said}: ${error.message}` : said
}
