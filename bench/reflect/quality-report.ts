import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Type } from 'typebox'
import { checker, UnusableInput } from '../checker.js'
import { parseJson, readTextFile } from '../recall/conversation.js'
import { formatTable } from '../table.js'
import type { Options } from './options.js'
import { measureQuality, QUALITY_FIGURES, type Quality } from './quality.js'

const Bounds = Type.Partial(
  Type.Record(Type.Enum([...QUALITY_FIGURES]), Type.Number({ minimum: 0, maximum: 1 })),
  { additionalProperties: false },
)
const checkFloors = checker(Type.Object({
  floors: Type.Array(Type.Object({
    /** Path of the data, relative to the file of the floors. */
    data: Type.String({ minLength: 1 }),
    /** The data are not part of the project: without them the floor is skipped with a message. */
    external: Type.Optional(Type.Boolean()),
    embedder: Type.Enum(['mock', 'local']),
    at_least: Type.Optional(Bounds),
    at_most: Type.Optional(Bounds),
  }, { additionalProperties: false }), { minItems: 1 }),
}), 'the file of floors')

/** Measures and prints the quality of answers without a model. @throws UnusableInput when a floor does not hold */
export async function measureQualities (
  { data, embedders, floor }: NonNullable<Options['quality']>, json: string | undefined,
): Promise<void> {
  const qualities: Quality[] = []
  const broken: string[] = []
  if (floor === undefined) {
    for (const path of data) for (const embedder of embedders) qualities.push(await measureQuality(path, embedder))
  } else {
    for (const bound of checkFloors(parseJson(await readTextFile(floor), floor)).floors) {
      const path = join(dirname(floor), bound.data)
      if (bound.external === true && !existsSync(path)) {
        console.log(`skipped: ${path} does not exist`)
        continue
      }
      const quality = await measureQuality(path, bound.embedder)
      qualities.push(quality)
      for (const figure of QUALITY_FIGURES) {
        const { [figure]: least = -Infinity } = bound.at_least ?? {}
        const { [figure]: most = Infinity } = bound.at_most ?? {}
        if (quality[figure] < least || quality[figure] > most) {
          broken.push(`${figure} on ${basename(path)} with ${bound.embedder} is ${quality[figure].toFixed(3)}, not ` +
            (quality[figure] < least ? `at least ${least}` : `at most ${most}`))
        }
      }
    }
  }
  console.log(formatTable([
    ['answers without a model', 'embeddings', 'questions', 'foreign', ...QUALITY_FIGURES],
    ...qualities.map((quality) => [
      basename(quality.data), quality.embeddings, String(quality.questions), String(quality.foreign),
      ...QUALITY_FIGURES.map((figure) => quality[figure].toFixed(3)),
    ]),
  ]))
  if (json !== undefined) await writeFile(json, `${JSON.stringify(qualities)}\n`)
  if (broken.length > 0) throw new UnusableInput(broken.join('; '))
}
