import { Type } from 'typebox'
import * as banks from './bank-browser.js'
import { operation } from './operation.js'
import {
  BankId, MemoriesAnswer, MemoriesQuery, MemoryRecord, NeighboursAnswer, NeighboursQuery, strict,
} from './schemas.js'

const oneMemory = { bank_id: BankId, memory_id: Type.String({ maxLength: 128 }) }

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
  request: strict(oneMemory),
  answer: MemoryRecord,
  errors: ['answer_too_large', 'not_found'],
  run: banks.getMemory,
})

export const getMemoryNeighbours = operation({
  name: 'getMemoryNeighbours',
  tag: 'banks',
  permission: 'read',
  summary: 'Get a memory and its neighbours in the document',
  request: strict({ ...oneMemory, ...NeighboursQuery.properties }),
  answer: NeighboursAnswer,
  errors: ['answer_too_large', 'not_found', 'not_supported'],
  run: banks.getMemoryNeighbours,
})
