import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Type, type Static } from 'typebox'
import { checker } from '../checker.js'
import { formatTable } from '../table.js'
import { ATTRIBUTES, labelWithout } from './attributes.js'
import { parseJson, readTextFile } from './conversation.js'
import type { Figures } from './figures.js'

const FIGURES = ['recall_at_5', 'recall_at_10', 'recall_at_25', 'hit_at_10', 'mrr', 'ndcg_at_10'] as const
/** Figures of sessions in the order of their first hits. */
const SESSION_FIGURES = {
  session_recall_at_5: 'recall_at_5', session_hit_at_5: 'hit_at_5', session_all_at_5: 'all_at_5',
} as const
const SESSION_FIGURE_NAMES = ['session_recall_at_5', 'session_hit_at_5', 'session_all_at_5'] as const
/** Tolerance for rounding. */
const ROUNDING = 1e-9

const Floor = Type.Object({
  /** Path of the data, relative to the file of the floors. */
  data: Type.String({ minLength: 1 }),
  /** Measures this many of its conversations, spread over its categories. */
  part: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Retains the memories without these attributes. */
  without: Type.Optional(Type.Array(Type.Enum([...ATTRIBUTES]), { minItems: 1 })),
  /** The data are not part of the project: if they are absent, this floor is skipped with a message. */
  external: Type.Optional(Type.Boolean()),
  /** Figures with their minimum values. */
  at_least: Type.Optional(Type.Partial(
    Type.Record(Type.Enum([...FIGURES, ...SESSION_FIGURE_NAMES]), Type.Number({ minimum: 0, maximum: 1 })),
    { additionalProperties: false },
  )),
  /** Figures that must not be below those of another pipeline on the same data. */
  not_below: Type.Optional(Type.Object({
    pipeline: Type.String(),
    figures: Type.Array(Type.Enum([...FIGURES])),
    /** By how much they may nevertheless be below. Default 0. */
    slack: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  }, { additionalProperties: false })),
}, { additionalProperties: false })
export type Floor = Static<typeof Floor>

const checkFloors = checker(Type.Object({ floors: Type.Array(Floor, { minItems: 1 }) }), 'the file of floors')

/**
 * @returns the floors, with paths of data relative to the working directory
 * @throws UnusableInput
 */
export async function readFloors (path: string): Promise<Floor[]> {
  const { floors } = checkFloors(parseJson(await readTextFile(path), path))
  return floors.map((floor) => ({ ...floor, data: join(dirname(path), floor.data) }))
}

/** Whether to skip a floor: its data are not part of the project, and are absent. */
export function isSkipped ({ data, external = false }: Floor): boolean {
  return external && !existsSync(data)
}

export interface FloorResult {
  data: string
  figure: string
  value: number
  floor: number
  /** Where the floor comes from: `recorded`, or the name of the other pipeline. */
  origin: string
  holds: boolean
}

/** @param plain figures of the pipeline that `not_below` names; without them that part is not checked */
export function checkFloor (
  { data, without = [], at_least: atLeast = {}, not_below: notBelow }: Floor, figures: Figures, plain?: Figures,
): FloorResult[] {
  const result = (figure: string, value: number, floor: number, origin: string) => ({
    data: labelWithout(data, without), figure, value, floor, origin, holds: value >= floor - ROUNDING,
  })
  return [
    ...Object.entries(atLeast).map(([figure, floor]) => result(figure, valueOf(figures, figure), floor, 'recorded')),
    ...(plain === undefined || notBelow === undefined
      ? []
      : notBelow.figures.map((figure) =>
        result(figure, valueOf(figures, figure), valueOf(plain, figure) - (notBelow.slack ?? 0), notBelow.pipeline))),
  ]
}

/** NaN, which is below every floor, when the data have no such figure. */
function valueOf (figures: Figures, name: string): number {
  const session = SESSION_FIGURE_NAMES.find((figure) => figure === name)
  if (session !== undefined) return figures.sessions?.by_first[SESSION_FIGURES[session]] ?? NaN
  const known = FIGURES.find((figure) => figure === name)
  return known === undefined ? NaN : figures[known]
}

export function formatFloors (results: readonly FloorResult[]): string {
  return formatTable([
    ['floors', 'figure', 'found', 'floor', 'of', ''],
    ...results.map(({ data, figure, value, floor, origin, holds }) => [
      data, figure, value.toFixed(4), floor.toFixed(4), origin, holds ? 'holds' : 'BELOW',
    ]),
  ])
}
