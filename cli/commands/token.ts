import { createHmac } from 'node:crypto'
import { applyEnvFile } from '../../lib/config/env-file.js'
import { EnvironmentReader, readUtf8 } from '../../lib/config/environment.js'
import { ConfigurationError } from '../../lib/config/problems.js'
import { isPrincipal } from '../../lib/access/context.js'
import { PRINCIPAL_IN_WORDS } from '../../lib/base/ids.js'
import { CommandError, usageError } from '../failures.js'
import type { Metadata } from '../option-values.js'
import { writeJson, writeLine } from '../output.js'

interface TokenOptions {
  expiresIn: number
  claim?: Metadata
  envFile?: string
  json?: boolean
}

/** Claims that the command sets from its own options and from the configuration. */
const RESERVED_CLAIMS = ['sub', 'iat', 'exp', 'aud', 'iss']

/** Writes a token that a gateway with this configuration accepts. */
export async function token (
  principal: string, { expiresIn, claim = {}, envFile, json = false }: TokenOptions,
): Promise<void> {
  if (!isPrincipal(principal)) throw usageError(`a principal must be ${PRINCIPAL_IN_WORDS}`)
  const twice = RESERVED_CLAIMS.filter((name) => Object.hasOwn(claim, name))
  if (twice.length > 0) throw usageError(`--claim ${twice.join(', ')}: the command sets this claim itself`)
  applyEnvFile(process.env, process.cwd(), envFile)
  const { secret, audience, issuer } = readSigning()
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    ...claim,
    sub: principal,
    iat: now,
    exp: now + expiresIn,
    aud: audience,
    iss: issuer,
  }
  const input = `${segment({ alg: 'HS256', typ: 'JWT' })}.${segment(claims)}`
  const signed = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  if (json) await writeJson({ token: signed, claims })
  else await writeLine(signed)
}

interface Signing {
  secret: string
  audience: string | undefined
  issuer: string | undefined
}

function readSigning (): Signing {
  const problems: string[] = []
  const reader = new EnvironmentReader(process.env, readUtf8, process.cwd(), problems)
  const secret = reader.secret('SERVICE_JWT_SECRET')
  const audience = reader.text('SERVICE_JWT_AUDIENCE')
  const issuer = reader.text('SERVICE_JWT_ISSUER')
  if (problems.length > 0) throw new ConfigurationError(problems)
  if (secret === undefined) {
    throw new CommandError('SERVICE_JWT_SECRET is not set: it is the secret with which the server verifies tokens')
  }
  return { secret, audience, issuer }
}

function segment (value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
