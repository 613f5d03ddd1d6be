export { MemoryGatewayAdmin, type AdminOptions } from './admin.js'
export { MemoryGatewayClient } from './client.js'
export { Conversation, type ConversationOperations } from './conversation.js'
export {
  MemoryGatewayError, type ClientErrorCode, type MemoryGatewayErrorCode, type MemoryGatewayErrorOptions,
} from './errors.js'
export type { CallOptions, ClientOptions, Timing, TokenSource, WriteOptions } from './options.js'
export { Listing } from './pages.js'
export type * from './types.js'
