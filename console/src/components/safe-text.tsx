import { useMemo, useState } from 'preact/hooks'
import { formatNumber } from '../text/format.js'
import { firstCharacters, textPartsOf } from '../text/visible-text.js'

/** Default of `truncateAt`. */
const DEFAULT_LENGTH = 800

interface Props {
  text: string
  /** Maximum number of characters; the rest is shown on request. Default 800. */
  truncateAt?: number
  /** Whether a button shows the rest. Default true; false for a text in a link or a row, where no button may be. */
  isExpandable?: boolean
}

/**
 * A text from an untrusted source: hidden characters are shown by name, its direction does not affect other text, links
 * are plain text, and it is never HTML.
 */
export function SafeText ({ text, truncateAt = DEFAULT_LENGTH, isExpandable = true }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const isTruncated = text.length > truncateAt && !isOpen
  const visible = isTruncated ? firstCharacters(text, truncateAt) : text
  const parts = useMemo(() => textPartsOf(visible), [visible])
  return (
    <>
      <bdi class='safe-text'>
        {parts.map((part, index) => typeof part === 'string'
          ? part
          : (
            <span key={index} class='hidden-character' title={part.name}>
              <span aria-hidden='true'>{part.label}</span>
              <span class='visually-hidden'>{` (${part.name}) `}</span>
            </span>
            ))}
        {isTruncated && '…'}
      </bdi>
      {isExpandable && text.length > truncateAt && (
        <button type='button' class='as-link' aria-expanded={isOpen} onClick={() => { setIsOpen(!isOpen) }}>
          {isOpen ? 'Show less' : `Show all ${formatNumber(text.length)} characters`}
        </button>
      )}
    </>
  )
}
