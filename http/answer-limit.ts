import { ServiceError } from '../lib/base/service-error.js'

/** The characters of all texts in a JSON value, which are at most its bytes. Stops at the limit. */
export function charactersIn (value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  // Answers are plain objects and arrays. Object.values would allocate a list for every hit.
  for (const name in value) {
    sum += charactersIn(value[name as keyof typeof value], limit - sum)
    if (sum > limit) break
  }
  return sum
}

export function answerTooLarge (limit: number): ServiceError {
  return new ServiceError(
    'answer_too_large',
    `The answer is larger than ${limit} bytes (bounds.answer_bytes); ask for less with max_results, max_tokens or ` +
      'limit',
  )
}
