/** Why a token is refused: every reason there is, in words that may go to the client. */
export type Refusal =
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

/** A token that is not accepted. The guard of the mode puts it into the mode's own words. */
export class TokenRefused extends Error {
  readonly reason: Refusal

  constructor (reason: Refusal, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause })
    this.name = 'TokenRefused'
    this.reason = reason
  }
}
