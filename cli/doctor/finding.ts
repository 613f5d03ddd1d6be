import { messageOf } from '../../lib/base/message-of.js'

type FindingStatus = 'ok' | 'warning' | 'failed' | 'skipped'

/** The result of one check. */
export interface Finding {
  check: string
  status: FindingStatus
  message: string
  /** What to do about it. */
  advice?: string | undefined
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const skipped = (check: string, message: string): Finding => ({ check, status: 'skipped', message })
export const warning = (check: string, message: string, advice?: string): Finding => (
  { check, status: 'warning', message, advice }
)
export const failed = (check: string, message: string, advice?: string): Finding => (
  { check, status: 'failed', message, advice }
)

/** An error as a finding: its message or detail, with its cause if there is one. */
export function failedWith (check: string, error: unknown, advice?: string): Finding {
  const detail = error instanceof Error && 'detail' in error && typeof error.detail === 'string'
    ? error.detail
    : messageOf(error)
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return failed(check, detail.includes(cause.slice(2)) ? detail : `${detail}${cause}`, advice)
}
