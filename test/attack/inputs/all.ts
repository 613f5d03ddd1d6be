import { amounts } from './amounts.js'
import { capacity } from './capacity.js'
import { connections } from './connections.js'
import { console } from './console.js'
import { contents } from './contents.js'
import { envelopes } from './envelopes.js'
import type { Input } from './input.js'
import { mcp } from './mcp.js'
import { parsing } from './parsing.js'
import { readers } from './readers.js'
import { reflectStreams } from './reflect-streams.js'
import { transfers } from './transfers.js'

/** Every hostile input, in the order in which they are run. */
export const INPUTS: readonly Input[] = [
  ...envelopes, ...transfers, ...contents, ...readers, ...reflectStreams, ...parsing, ...connections, ...capacity,
  ...amounts, ...mcp, ...console,
]
