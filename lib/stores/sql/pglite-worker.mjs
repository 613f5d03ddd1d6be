// The thread that PGlite runs in: its WASM holds the thread it is called on for as long as a statement takes.
// Plain JavaScript, because a worker thread loads it as it stands: beside the sources and in dist/ alike.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * What the thread is asked. Requests are answered one after another, in the order in which they came.
 * @typedef {object} Request
 * @property {number} id
 * @property {'query' | 'script' | 'close'} kind
 * @property {string} text
 * @property {ReadonlyArray<string | number | boolean | null | ReadonlyArray<string | null>>} params
 */

/**
 * What it answers; the opening is answered as request 0. After `fatal` nothing more is answered and the thread must be
 * ended.
 * @typedef {{ id: number, rows: object[] }
 *   | { id: number, error: { code: string, message: string, constraint: string | undefined } }
 *   | { id: number, fatal: string, missing?: true }} Reply
 */

const SQLSTATE = /^[0-9A-Z]{5}$/
/** No room, the operator, the system, the server itself: what is said of these holds nothing of a row. */
const OF_THE_SERVER = /^(53|57|58|XX)/
const BOOL = 16
const BYTEA = 17
/** Every parameter is text by then, and these two would refuse a text that PostgreSQL itself should judge. */
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
      // The error holds the statement and its parameters too, and its detail a row.
      post({ id, error: { code: error.code, message: error.message, constraint: error.constraint } })
      return
    }
    // PostgreSQL gave up (FATAL, PANIC), or the WASM broke under it: the next statement could take the whole process
    // down.
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
    // Made under another name, so that a start that is interrupted does not leave half a cluster to the next.
    const unfinished = `${directory}.new`
    rmSync(unfinished, { recursive: true, force: true })
    await (await PGlite.create({ dataDir: `file://${unfinished}`, extensions })).close()
    renameSync(unfinished, directory)
  }
  database = await PGlite.create({ dataDir: `file://${directory}`, extensions })
  // A generic plan cannot know a small bank from a big one, nor use the index that is a big bank's own.
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
 * Why the database is lost, without anything that was bound or found. While it opens, nothing has been.
 * @param {unknown} error
 * @param {boolean} opening
 */
function reason (error, opening) {
  if (!(error instanceof Error)) return opening ? String(error) : 'an unknown error'
  const harmless = opening || error instanceof WebAssembly.RuntimeError || OF_THE_SERVER.test(error.code) || /^(Aborted|PGlite is)\b/.test(error.message)
  const said = [error.severity ?? error.name, error.code].filter((part) => part !== undefined).join(' ')
  return harmless ? `${said}: ${error.message}` : said
}
