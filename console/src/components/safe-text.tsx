import { useMemo, useState } from 'preact/hooks'
import { formatNumber } from '../text/format.js'
import { firstCharacters, textPartsOf } from '../text/visible-text.js'

/** Longer texts are cut until the reader asks for the rest. */
const SHOWN = 800

interface Props {
  text: string
  /** Characters that are shown at first. Default 800. */
  shown?: number
  /** Whether the rest can be asked for. Default true; false where the text stands in a link or a row. */
  isExpandable?: boolean
}

/**
 * A text of somebody else: characters that hide something are shown by name, its direction stays within it, links are
 * text, and it is never HTML.
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
