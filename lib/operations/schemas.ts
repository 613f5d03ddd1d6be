/*
 * The schemas of requests and answers. The types of the library, the validation of the routes and the OpenAPI document
 * are made from them.
 * Optional request fields may also be null, which means absent; the routes remove such nulls before validation.
 */

export * from './schemas/ranges.js'
export * from './schemas/common.js'
export * from './schemas/memory-record.js'
export * from './schemas/retain.js'
export * from './schemas/recall.js'
export * from './schemas/reflect.js'
export * from './schemas/forget.js'
export * from './schemas/access.js'
export * from './schemas/banks.js'
export * from './schemas/conversations.js'
