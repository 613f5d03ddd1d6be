import * as retains from '../memory/retain-service.js'
import {
  MAX_BATCH_ITEMS, RetainAnswer, RetainBatchAnswer, RetainBatchRequest, RetainRequest,
} from '../memory/schemas.js'
import { LIMIT_ERRORS, operation } from './operation.js'

const errors = [...LIMIT_ERRORS, 'model_output_invalid', 'server_busy'] as const

export const retain = operation({
  name: 'retain',
  tag: 'memory',
  permission: 'write',
  summary: 'Store one memory',
  description: 'Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing ' +
    'memory, unless the repeat has a more trusted writer and therefore replaces that memory. The answer contains ' +
    '`trust` when the trust of the memory is below `trusted`.',
  request: RetainRequest,
  answer: RetainAnswer,
  errors,
  idempotent: true,
  tool: {
    title: 'Store a memory',
    description: 'Stores one fact, preference, decision or event for later conversations. Write a complete sentence ' +
      'that can be understood without this conversation. An exact repeat is not stored again.',
    omit: ['replace_document'],
  },
  run: retains.retain,
})

export const retainBatch = operation({
  name: 'retainBatch',
  tag: 'memory',
  permission: 'write',
  summary: `Store up to ${MAX_BATCH_ITEMS} memories, all or none`,
  request: RetainBatchRequest,
  answer: RetainBatchAnswer,
  errors,
  idempotent: true,
  run: retains.retainBatch,
})
