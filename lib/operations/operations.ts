import { getAccess, whoami } from './access.js'
import {
  getBankConfig, getBankConfigHistory, patchBankConfig, putBankConfig, resetBankConfig,
} from './bank-settings.js'
import {
  appendMessages, deleteConversation, listConversations, listMessages, popMessages,
} from './conversations.js'
import { deleteBank, getBank, getBankGrowth, getBankStatistics, listBanks } from './banks.js'
import { explainRecall } from './explain.js'
import { forget } from './forget.js'
import { getMemory, getMemoryNeighbours, listMemories } from './memories.js'
import { patchMemory, restoreMemory, retireMemory } from './memory-changes.js'
import { listVersions, redactVersion, rollbackBank } from './memory-versions.js'
import { acceptProposal, dismissProposal, listProposals, undoProposal } from './proposals.js'
import { recall } from './recall.js'
import { reflect } from './reflect.js'
import { retain, retainBatch } from './retain.js'

/** Every operation of callers by its name. Tools are listed in this order. */
export const OPERATIONS = {
  retain,
  retainBatch,
  recall,
  explainRecall,
  reflect,
  forget,
  listBanks,
  getBank,
  getBankStatistics,
  getBankGrowth,
  deleteBank,
  listMemories,
  getMemory,
  getMemoryNeighbours,
  patchMemory,
  retireMemory,
  restoreMemory,
  listVersions,
  redactVersion,
  rollbackBank,
  appendMessages,
  listMessages,
  listConversations,
  popMessages,
  deleteConversation,
  listProposals,
  acceptProposal,
  dismissProposal,
  undoProposal,
  getBankConfig,
  putBankConfig,
  patchBankConfig,
  resetBankConfig,
  getBankConfigHistory,
  whoami,
  getAccess,
}
