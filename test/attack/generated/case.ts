import type { Request } from '../client.js'

/** One request that is made from the document. */
export interface Case {
  name: string
  request: () => Request
}
