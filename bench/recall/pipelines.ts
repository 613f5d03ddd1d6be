import { basename } from 'node:path'
import { parse } from 'yaml'
import { SCORER_TABLE } from '../../lib/config/scorer-table.js'
import { UnusableInput } from '../checker.js'
import { readTextFile } from './conversation.js'
import { isJsonObject } from '../../lib/base/json-object.js'

/** The `retrieval` section of a configuration file; the gateway checks it. */
export type Retrieval = Readonly<Record<string, unknown>>

const NO_SCORERS: Readonly<Record<string, number>> =
  Object.fromEntries(Object.keys(SCORER_TABLE).map((name) => [name, 0]))

/**
 * The ways of ranking that `--pipeline` knows by name, each with its `retrieval` section. Undefined omits the section,
 * so that the gateway uses its defaults.
 */
export const PIPELINES: Readonly<Record<string, Retrieval | undefined>> = {
  default: undefined,
  bm25: {
    weights: { lexical: 1, semantic: 0 }, scorers: NO_SCORERS, diversity: 0, bm25: { k1: 0.9, b: 0.3 }, context: false,
  },
  context_bm25: { weights: { lexical: 1, semantic: 0 }, scorers: NO_SCORERS, diversity: 0, bm25: { k1: 0.9, b: 0.3 } },
}

export interface Pipeline {
  /** For reports. */
  name: string
  retrieval?: Retrieval
}

/**
 * @param name one of PIPELINES, or the path of a YAML file whose `retrieval` section is used unchanged
 * @throws UnusableInput
 */
export async function choosePipeline (name: string): Promise<Pipeline> {
  if (/\.ya?ml$/.test(name)) {
    return { name: basename(name).replace(/\.ya?ml$/, ''), retrieval: retrievalOf(await readTextFile(name), name) }
  }
  if (!Object.hasOwn(PIPELINES, name)) {
    throw new UnusableInput(`--pipeline: found ${name}, allowed are ${Object.keys(PIPELINES).join(', ')} and a file ` +
      'that ends in .yaml')
  }
  const retrieval = PIPELINES[name]
  return { name, ...(retrieval !== undefined && { retrieval }) }
}

function retrievalOf (text: string, path: string): Retrieval {
  let file: unknown
  try {
    file = parse(text)
  } catch (error) {
    throw new UnusableInput(`${path} is not YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
  const retrieval = isJsonObject(file) ? file['retrieval'] : undefined
  if (!isJsonObject(retrieval)) throw new UnusableInput(`${path} has no section \`retrieval\``)
  return retrieval
}
