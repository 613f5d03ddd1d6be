import { Type } from 'typebox'
import { BankConfigurationSchema } from '../config/schema.js'
import * as settings from './bank-configurations.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { BankConfigAnswer, BankConfigHistoryAnswer, BankId, ConfigHistoryQuery, strict } from './schemas.js'

const changeErrors = [...LIMIT_ERRORS, 'precondition_failed', 'conflict', 'not_supported'] as const

export const getBankConfig = operation({
  name: 'getBankConfig',
  tag: 'banks',
  permission: 'admin',
  summary: 'Get the configuration of a bank',
  description: 'Returns the bank\'s own configuration, the settings in force, and the origin of each value.',
  request: strict({ bank_id: BankId }),
  answer: BankConfigAnswer,
  errors: [],
  run: settings.getBankConfig,
})

export const putBankConfig = operation({
  name: 'putBankConfig',
  tag: 'banks',
  permission: 'admin',
  summary: 'Set the configuration of a bank',
  description: 'Replaces the configuration. A bank can set tighter limits than the server\'s file, never looser ' +
    'ones. The configuration takes effect at once on this replica, and within two seconds on every other. ' +
    '`retrieval` and `reflect` apply to requests on this bank, and to requests on several banks when all of them ' +
    'have the same values.',
  request: strict({
    bank_id: BankId,
    config: Type.Object(BankConfigurationSchema.properties, {
      additionalProperties: false,
      title: 'BankConfig',
      examples: [{ description: 'What Alice tells her assistant.', homeostasis: { recall_max_tokens: 2000 } }],
    }),
  }),
  answer: BankConfigAnswer,
  errors: changeErrors,
  conditional: true,
  body: 'config',
  run: settings.putBankConfig,
})

export const patchBankConfig = operation({
  name: 'patchBankConfig',
  tag: 'banks',
  permission: 'admin',
  summary: 'Change parts of the configuration of a bank',
  description: 'A merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.',
  request: strict({
    bank_id: BankId,
    patch: Type.Unsafe<Record<string, unknown>>({
      title: 'BankConfigPatch',
      type: 'object',
      description: 'The members to change; null removes a member.',
      examples: [{ homeostasis: { recall_max_tokens: 2000 }, mission: null }],
    }),
  }),
  answer: BankConfigAnswer,
  errors: changeErrors,
  conditional: true,
  body: 'patch',
  run: settings.patchBankConfig,
})

export const resetBankConfig = operation({
  name: 'resetBankConfig',
  tag: 'banks',
  permission: 'admin',
  summary: 'Reset the configuration of a bank',
  request: strict({ bank_id: BankId }),
  answer: BankConfigAnswer,
  errors: changeErrors,
  conditional: true,
  run: settings.resetBankConfig,
})

export const getBankConfigHistory = operation({
  name: 'getBankConfigHistory',
  tag: 'banks',
  permission: 'admin',
  summary: 'List the latest changes of the configuration of a bank',
  request: strict({ bank_id: BankId, ...ConfigHistoryQuery.properties }),
  answer: BankConfigHistoryAnswer,
  errors: [],
  run: settings.getBankConfigHistory,
})
