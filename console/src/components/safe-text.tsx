import { useMemo, useState } from 'preact/hooks'
import { formatNumber } from '../text/format.js'
import { firstCharacters, textPartsOf } from '../text/visible-text.js'

/** Longer texts are cut until the reader asks for the rest. */
const SHOWN = 800

interface Props {
  text: string
  /** Characters shown at first. Default 800. */
  shown?: number
  /** Whether the rest can be shown. Default true; false for a text in a link or a row. */
  isExpandable?: boolean
}

/**
 * A text from an untrusted source: hidden characters are shown by name, its direction does not affect other text, links
 * are plain text, and it is never HTML.
 */
export function SafeText ({ text, shown = SHOWN, isExpandable = true }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const isCut = text.length > shown && !isOpen
  const visible = isCut ? firstCharacters(text, shown) : text
  const parts = useMemo(() => textPartsOf(visible), [visible])
  return (
    <>
      <bdi class='safe-text'>
        {parts.map((part, index) => typeof part === 'string'
          ? part
          : (
            <span key={index} class='hidden-character' title={part.name}>
              <span aria-hidden='true'>{part.label}</span>
              <span class='for-screen-readers'>{` (${part.name}) `}</span>
            </span>
            ))}
        {isCut && '…'}
      </bdi>
      {isExpandable && text.length > shown && (
        <button type='button' class='as-link' aria-expanded={isOpen} onClick={() => { setIsOpen(!isOpen) }}>
          {isOpen ? 'Show less' : `Show all ${formatNumber(text.length)} characters`}
        </button>
      )}
    </>
  )
}
