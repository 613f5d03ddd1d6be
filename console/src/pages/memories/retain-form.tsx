import type { RetainAnswer, RetainRequest } from 'memory-gateway-client'
import { useRef, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { useUnsavedInput } from '../../components/form-dialog.js'
import { DateTimeField } from '../../components/date-time-field.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure } from '../../components/states.js'
import { TagsField } from '../../components/tags-field.js'
import { announce } from '../../state/announcer.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { formatCount } from '../../text/format.js'
import { parseMetadata } from '../../text/metadata.js'

interface Props {
  bank: string
  onRetained: () => void
  /** The user follows the link to the memory that was stored. */
  onOpen: () => void
  onClose: () => void
}

const EMPTY = {
  content: '',
  speaker: '',
  tags: [] as string[],
  metadata: '',
  occurredAt: '',
  expiresAt: '',
  key: '',
  validFrom: '',
  validUntil: '',
  documentId: '',
  source: '',
}

/** Stores a memory. */
export function RetainForm ({ bank, onRetained, onOpen, onClose }: Props) {
  const [draft, setDraft] = useState(EMPTY)
  /** The draft as far as closing the dialog loses nothing of it. */
  const [saved, setSaved] = useState(EMPTY)
  useUnsavedInput(JSON.stringify(draft) !== JSON.stringify(saved))
  const [answer, setAnswer] = useState<RetainAnswer | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const change = (changes: Partial<typeof EMPTY>) => { setDraft((old) => ({ ...old, ...changes })) }
  const metadata = parseMetadata(draft.metadata)
  const isReady = draft.content.trim() !== '' && metadata.error === undefined
  const field = useRef<HTMLTextAreaElement>(null)

  const send = async () => {
    const { content, speaker, tags, occurredAt, expiresAt, key, validFrom, validUntil, documentId, source } = draft
    const request: RetainRequest = {
      bank_id: bank,
      content,
      ...(speaker.trim() !== '' && { speaker: speaker.trim() }),
      ...(tags.length > 0 && { tags }),
      ...(metadata.value !== undefined && { metadata: metadata.value }),
      ...(occurredAt !== '' && { occurred_at: occurredAt }),
      ...(expiresAt !== '' && { expires_at: expiresAt }),
      ...(key.trim() !== '' && { key: key.trim() }),
      ...(validFrom !== '' && { valid_from: validFrom }),
      ...(validUntil !== '' && { valid_until: validUntil }),
      ...(documentId !== '' && { document_id: documentId }),
      ...(source !== '' && { source }),
    }
    setIsBusy(true)
    setError(undefined)
    setAnswer(undefined)
    try {
      const result = await client.value.retain(request)
      setAnswer(result)
      setSaved(result.stored ? { ...draft, content: '' } : draft)
      announce(result.stored ? 'The memory is stored' : 'The bank already has this memory')
      if (result.stored) {
        change({ content: '' })
        field.current?.focus()
      }
      onRetained()
    } catch (failure) {
      setError(failure)
    } finally {
      setIsBusy(false)
    }
  }

  const text = (name: 'speaker' | 'key' | 'documentId' | 'source', label: string, hint?: string) => (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes} value={draft[name]} autocomplete='off' spellcheck={false}
          onInput={({ currentTarget }) => { change({ [name]: currentTarget.value }) }}
        />
      )}
    </Field>
  )
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      if (isReady && !isBusy) void send()
    }}
    >
      <p>Into the bank <code><SafeText text={bank} isExpandable={false} /></code>.</p>
      <Field label='Content' hint='The text to remember.'>
        {(attributes) => (
          <textarea
            {...attributes} ref={field} rows={5} value={draft.content}
            onInput={({ currentTarget }) => { change({ content: currentTarget.value }) }}
          />
        )}
      </Field>
      <div class='fields'>
        {text('speaker', 'Speaker', 'Who said it: a name, user or assistant.')}
        <DateTimeField
          label='Occurred at'
          hint='When it was said or happened, in your time zone.'
          value={draft.occurredAt}
          onChange={(occurredAt) => { change({ occurredAt }) }}
        />
        <TagsField label='Tags' tags={draft.tags} onChange={(tags) => { change({ tags }) }} />
        <Field label='Metadata' hint='A flat JSON object.' error={metadata.error}>
          {(attributes) => (
            <input
              {...attributes} value={draft.metadata} placeholder='{"kind": "note"}' autocomplete='off'
              spellcheck={false}
              onInput={({ currentTarget }) => { change({ metadata: currentTarget.value }) }}
            />
          )}
        </Field>
        <DateTimeField
          label='Expires at'
          hint='In your time zone; empty: never.'
          value={draft.expiresAt}
          onChange={(expiresAt) => { change({ expiresAt }) }}
        />
        {text('key', 'Key', 'A slot that holds one fact, such as alice/employer: it supersedes the one that stands.')}
        <DateTimeField
          label='Valid from'
          hint='Since when it is so, in your time zone.'
          value={draft.validFrom}
          onChange={(validFrom) => { change({ validFrom }) }}
        />
        <DateTimeField
          label='Valid until'
          hint='Until when it is so, exclusive.'
          value={draft.validUntil}
          onChange={(validUntil) => { change({ validUntil }) }}
        />
        {text('documentId', 'Document')}
        {text('source', 'Source')}
      </div>
      {error !== undefined && <Failure error={error} />}
      {answer !== undefined && <Outcome bank={bank} answer={answer} onOpen={onOpen} />}
      <div class='actions'>
        <button
          type='submit'
          class='primary'
          disabled={!isReady}
          aria-disabled={isBusy}
        >
          {isBusy ? 'Storing…' : 'Store'}
        </button>
        <button type='button' onClick={onClose}>Close</button>
      </div>
    </form>
  )
}

function Outcome ({ bank, answer, onOpen }: { bank: string, answer: RetainAnswer, onOpen: () => void }) {
  const { memory_id: id, stored, updated, trust, redactions = [], superseded = [] } = answer
  const { near_duplicate: near, chunk_count: chunks } = answer
  const isAsEntered = stored && trust === undefined && near === undefined && redactions.length === 0
  return (
    <div class={isAsEntered ? 'notice good' : 'notice'} role='status'>
      <p>
        {stored
          ? `Stored in ${chunks === 1 ? 'one passage' : `${chunks} passages`}`
          : 'The bank already has this memory'}
        {updated === true && ', replacing a near-duplicate'}.{' '}
        <a
          href={hrefOf('memories', { bank, memory: id })}
          // With one of these keys it opens elsewhere.
          onClick={({ ctrlKey, metaKey, shiftKey }) => { if (!ctrlKey && !metaKey && !shiftKey) onOpen() }}
        >
          Open it
        </a>
      </p>
      {superseded.length > 0 && <p>It supersedes {formatCount(superseded.length, 'memory', 'memories')}.</p>}
      {trust !== undefined && <p>Its trust is {trust}.</p>}
      {near !== undefined && (
        <p>It is similar to <code>{near.memory_id}</code> (similarity {near.similarity.toFixed(2)}).</p>
      )}
      {redactions.length > 0 && <p>Metadata removed: <SafeText text={redactions.join(', ')} /></p>}
    </div>
  )
}
