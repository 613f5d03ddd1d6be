import type { components, operations } from './generated/openapi.js'

/*
 * The types of the OpenAPI document that no generated method has as its request or answer, or that the client exports
 * under another name.
 */
export type * from './generated/types.js'

type Schemas = components['schemas']

/** Names a bank. */
export interface BankRequest { bank_id: string }

export type RetainItem = Schemas['RetainItem']
/** A message to append to a conversation, in the form that chat APIs have. */
export type ConversationMessage = Schemas['ConversationMessage']
/** A message of a conversation. */
export type StoredMessage = Schemas['StoredMessage']
export type Metadata = Schemas['Metadata']
export type TrustLevel = Schemas['TrustLevel']
export type Hit = Schemas['Hit']
/** A source of a reflect: a hit that its answer cites or not. */
export type ReflectSource = Schemas['ReflectSource']
/** The events of a reflect stream. A failure in the middle is thrown and is not an event. */
export type ReflectEvent = Exclude<Schemas['ReflectEvent'], Schemas['ErrorEvent']>

/** A parsed line of an export: first the header, then one memory per line. */
export type ExportLine = Schemas['ExportLine']
/** A line of an import. */
export type ImportLine = Schemas['ImportLine']
/** A line with or without its line feed, any chunk of bytes of the file, or a line as an object. */
export type ImportPiece = string | Uint8Array | ImportLine
/** A whole export (a file that a browser's user has chosen is a Blob), or its pieces. */
export type ImportSource = string | Uint8Array | Blob | Iterable<ImportPiece> | AsyncIterable<ImportPiece>
/** The request of `exportBank`. */
export type ExportBankRequest = BankRequest & NonNullable<operations['exportBank']['parameters']['query']>

/** The request of `importBank`. */
export type ImportBankRequest = BankRequest & NonNullable<operations['importBank']['parameters']['query']> & {
  lines: ImportSource
}
export type ImportBankAnswer = Schemas['ImportBankAnswer']

export type HealthAnswer = Schemas['HealthAnswer']
export type AdminHistory = Schemas['RequestHistory']
export type AccessCheckRequest = Schemas['AccessCheck']

/** The body of an error. */
export type ErrorBody = Schemas['Error']
/** The error codes of the gateway. */
export type ErrorCode = Schemas['ErrorCode']
