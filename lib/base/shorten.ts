import { isHighSurrogate } from './code-points.js'

/** The first `length` UTF-16 units of a text, or one less where they would end in half a surrogate pair. */
export function beginningOf (text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, isHighSurrogate(last) && length < text.length ? length - 1 : length)
}

/** A text, or its beginning with an ellipsis when it is longer than `length`. */
export function shorten (text: string, length: number): string {
  return text.length > length ? `${beginningOf(text, length)}…` : text
}
