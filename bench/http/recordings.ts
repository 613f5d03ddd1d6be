import { Type, type Static } from 'typebox'

/** One answer of the gateway, for the bare server to serve under `path`. */
export const Recording = Type.Object({
  path: Type.String(),
  kind: Type.Enum(['recall', 'reflect', 'retain']),
  answer: Type.Unknown(),
})
export type Recording = Static<typeof Recording>
export const Recordings = Type.Array(Recording)
