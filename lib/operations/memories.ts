import * as banks from './bank-browser.js'
import { OneMemory } from './memory-changes.js'
import { operation } from './operation.js'
import {
  BankId, MemoriesAnswer, MemoriesQuery, MemoryRecord, NeighboursAnswer, NeighboursQuery, strict,
} from './schemas.js'

export const listMemories = operation({
  name: 'listMemories',
  tag: 'banks',
  permission: 'read',
  summary: 'List the memories of a bank',
  request: strict({ bank_id: BankId, ...MemoriesQuery.properties }),
  answer: MemoriesAnswer,
  errors: ['answer_too_large', 'not_supported'],
  run: banks.listMemories,
})

export const getMemory = operation({
  name: 'getMemory',
  tag: 'banks',
  permission: 'read',
  summary: 'Get a memory',
  request: strict(OneMemory),
  answer: MemoryRecord,
  errors: ['answer_too_large', 'not_found'],
  run: banks.getMemory,
})

export const getMemoryNeighbours = operation({
  name: 'getMemoryNeighbours',
  tag: 'banks',
  permission: 'read',
  summary: 'Get a memory and its neighbours in the document',
  request: strict({ ...OneMemory, ...NeighboursQuery.properties }),
  answer: NeighboursAnswer,
  errors: ['answer_too_large', 'not_found', 'not_supported'],
  run: banks.getMemoryNeighbours,
})
