import { Type } from 'typebox'
import { withoutUndefined } from '../base/members.js'
import * as banks from './bank-browser.js'
import { deleteBank as remove } from './bank-configurations.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import {
  BankAnswer, BankId, BanksAnswer, clamped, DeleteBankAnswer, GrowthAnswer, GrowthQuery, nullable, PAGE_SIZE, PageQuery,
  StatisticsAnswer, strict,
} from './schemas.js'

const BankRequest = strict({ bank_id: BankId })

export const listBanks = operation({
  name: 'listBanks',
  tag: 'banks',
  permission: 'read',
  summary: 'List the banks that the caller may read',
  request: PageQuery,
  answer: BanksAnswer,
  errors: [],
  tool: {
    title: 'List banks',
    description: 'Lists the memory banks that the caller may read, by name, with the number of memories in each.',
    input: strict({
      limit: Type.Optional(clamped('Number of banks in one answer.', PAGE_SIZE)),
      cursor: Type.Optional(Type.String({
        minLength: 1, maxLength: 1024, description: '`next_cursor` of the previous answer.',
      })),
    }),
    output: strict({
      banks: BanksAnswer.properties.banks,
      next_cursor: nullable({
        description: 'Null when there are no more banks. An answer before the last may have fewer than `limit`, or ' +
          'none.',
      }),
    }),
    shape: async (ask, { limit = PAGE_SIZE.default, cursor }, budget) => {
      const read = async (size: number) => await ask(withoutUndefined({ limit: size, cursor }))
      return (await budget.takePage(limit, read, ({ banks }) => banks)).page
    },
  },
  run: banks.listBanks,
})

export const getBank = operation({
  name: 'getBank',
  tag: 'banks',
  permission: 'read',
  summary: 'Get a bank',
  request: BankRequest,
  answer: BankAnswer,
  errors: [],
  run: banks.getBank,
})

export const getBankStatistics = operation({
  name: 'getBankStatistics',
  tag: 'banks',
  permission: 'read',
  summary: 'Get the statistics of a bank',
  request: BankRequest,
  answer: StatisticsAnswer,
  errors: [],
  run: banks.getBankStatistics,
})

export const getBankGrowth = operation({
  name: 'getBankGrowth',
  tag: 'banks',
  permission: 'read',
  summary: 'Get the growth of a bank by day',
  request: strict({ bank_id: BankId, ...GrowthQuery.properties }),
  answer: GrowthAnswer,
  errors: ['not_supported'],
  run: banks.getBankGrowth,
})

export const deleteBank = operation({
  name: 'deleteBank',
  tag: 'banks',
  permission: 'admin',
  summary: 'Delete a bank',
  description: 'Deletes the memories of the bank, its configuration and the configuration history, in one ' +
    'transaction. A forget with `scope: all` keeps the configuration. The deletion counts as a forget. For a ' +
    'bank that does not exist, the counts are zero.',
  request: BankRequest,
  answer: DeleteBankAnswer,
  errors: LIMIT_ERRORS,
  run: remove,
})
