/** Every reason for refusing a token, in words that may be sent to the client. */
export type TokenRefusalReason =
  | 'malformed token'
  | 'token too long'
  | 'algorithm not allowed'
  | 'unsupported header parameter'
  | 'unknown signing key'
  | 'bad signature'
  | 'malformed claim'
  | 'wrong issuer'
  | 'wrong audience'
  | 'expired'
  | 'not yet valid'
  | 'missing sub'
  | 'invalid principal'
  | 'invalid tenant'
  | 'invalid actor'
  | 'invalid actor type'
  | 'delegated token not accepted'

/** A token that is not accepted. Each auth mode turns the reason into its own message. */
export class TokenRefused extends Error {
  readonly reason: TokenRefusalReason

  constructor (reason: TokenRefusalReason, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause })
    this.name = 'TokenRefused'
    this.reason = reason
  }
}
