import { MemoryGatewayError, type Memory } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { ConfirmDialog } from '../../components/dialog.js'
import { DiffText } from '../../components/diff-text.js'
import { MissingPermission, type Permission } from '../../components/permission.js'
import { SafeText } from '../../components/safe-text.js'
import { StateBadge } from '../../components/state-badge.js'
import { Failure, Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { wordDiff } from '../../text/word-diff.js'
import { fieldChanges, type MemoryVersion } from './version-changes.js'

interface Props {
  bank: string
  memory: Memory
  isGranted: (permission: Permission) => boolean
}

/** The versions of a memory, the last one first, each with what it changed. */
export function Versions ({ bank, memory, isGranted }: Props) {
  const { memory_id: id, version: last } = memory
  const [redacted, setRedacted] = useState<number | undefined>(undefined)
  const loaded = useLoad(
    async (signal) => await client.value.listVersions({ bank_id: bank, memory_id: id }, { signal }), [bank, id, last])
  const mayForget = isGranted('forget')
  const isUnsupported = loaded.error instanceof MemoryGatewayError && loaded.error.code === 'not_supported'
  return (
    <section aria-labelledby='versions'>
      <h3 id='versions'>Versions</h3>
      {isUnsupported
        ? <p class='hint'>The store of this server keeps no versions.</p>
        : (
          <Loadable loaded={loaded} label='Loading the versions'>
            {({ versions }) => (
              <>
                <ol class='memories-versions' aria-labelledby='versions'>
                  {versions.map((version, index) => (
                    <Version
                      key={version.version} version={version} before={versions[index + 1]}
                      onRedact={version.redacted || index === 0 || !mayForget
                        ? undefined
                        : () => { setRedacted(version.version) }}
                    />
                  ))}
                </ol>
                {versions.length > 1 && !mayForget &&
                  <MissingPermission permission='forget' action='empty an earlier version' />}
              </>
            )}
          </Loadable>
          )}
      <RedactDialog
        bank={bank} id={id} version={redacted} onClose={() => { setRedacted(undefined) }} onDone={loaded.reload}
      />
    </section>
  )
}

interface VersionProps {
  version: MemoryVersion
  before: MemoryVersion | undefined
  /** Undefined: it cannot be emptied. */
  onRedact: (() => void) | undefined
}

function Version ({ version, before, onRedact }: VersionProps) {
  const { version: number, changed_at: at, changed_by: by, reason, redacted: isRedacted } = version
  const [isOpen, setIsOpen] = useState(false)
  const comparable = before?.redacted === false ? before : undefined
  return (
    <li>
      <p class='memories-facts'>
        <strong>Version {number}</strong>
        <Time at={at} />
        <span>
          by {by === null ? 'an anonymous caller' : <SafeText text={by} isExpandable={false} truncateAt={60} />}
        </span>
        <StateBadge memory={version} />
      </p>
      {reason !== null && <p class='memories-text'>Why: <SafeText text={reason} /></p>}
      {isRedacted
        ? <p class='hint'>Emptied: what it said is gone.</p>
        : (
          <details onToggle={({ currentTarget }) => { setIsOpen(currentTarget.open) }}>
            <summary>What version {number} {comparable === undefined ? 'said' : 'changed'}</summary>
            {isOpen && (comparable === undefined
              ? <div class='memories-diff'><SafeText text={version.content} truncateAt={4000} /></div>
              : <Changes before={comparable} after={version} />)}
          </details>
          )}
      {onRedact !== undefined && (
        <button type='button' class='small' onClick={onRedact}>Empty version {number}…</button>
      )}
    </li>
  )
}

/** The words that differ between two versions, and the other fields before and after. */
function Changes ({ before, after }: { before: MemoryVersion, after: MemoryVersion }) {
  const fields = fieldChanges(before, after)
  const isSameText = before.content === after.content
  return (
    <>
      {!isSameText && (
        <div class='memories-diff' role='region' aria-label={`Changed words of version ${after.version}`} tabIndex={0}>
          <DiffText parts={wordDiff(before.content, after.content)} />
        </div>
      )}
      {fields.length > 0 && (
        <dl class='facts'>
          {fields.flatMap(({ label, before: old, after: now }) => [
            <dt key={label}>{label}</dt>,
            <dd key={`${label} value`}>
              <FieldValue text={old} /> <span aria-hidden='true'>→</span><span class='visually-hidden'>becomes</span>
              {' '}<FieldValue text={now} />
            </dd>,
          ])}
        </dl>
      )}
      {isSameText && fields.length === 0 && <p class='hint'>Nothing but who made it, and when.</p>}
    </>
  )
}

function FieldValue ({ text }: { text: string }) {
  return text === '' ? <span>none</span> : <SafeText text={text} truncateAt={200} />
}

interface RedactProps {
  bank: string
  id: string
  /** Undefined: the dialog is closed. */
  version: number | undefined
  onClose: () => void
  onDone: () => void
}

function RedactDialog ({ bank, id, version, onClose, onDone }: RedactProps) {
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const close = () => {
    setError(undefined)
    onClose()
  }
  const redact = async () => {
    if (version === undefined) return
    setIsBusy(true)
    setError(undefined)
    try {
      await client.value.redactVersion({ bank_id: bank, memory_id: id, version })
      announce(`Version ${version} is emptied`)
      close()
      onDone()
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <ConfirmDialog
      title={`Empty version ${version ?? ''}`} isOpen={version !== undefined} isBusy={isBusy} action='Empty it'
      onConfirm={() => { void redact() }} onClose={close}
    >
      <p>
        What this version said is removed for good. That there was one stays, with who made it and when. This cannot be
        undone.
      </p>
      {error !== undefined && <Failure error={error} />}
    </ConfirmDialog>
  )
}
