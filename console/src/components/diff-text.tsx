import type { DiffPart } from '../text/word-diff.js'
import { SafeText } from './safe-text.js'

/** A text with the words marked that it has and another has not, or the other way round. */
export function DiffText ({ parts }: { parts: readonly DiffPart[] }) {
  return (
    <>
      {parts.map(({ text, kind }, index) => {
        const shown = <SafeText text={text} truncateAt={Infinity} />
        if (kind === 'same') return <span key={index}>{shown}</span>
        return kind === 'added' ? <ins key={index}>{shown}</ins> : <del key={index}>{shown}</del>
      })}
    </>
  )
}
