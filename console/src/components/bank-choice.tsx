import { useEffect, useRef, useState } from 'preact/hooks'
import { currentBank, chooseOnlyBank, hrefOfBank, isChoosingBank } from '../state/current-bank.js'
import { firstPage } from '../state/first-page.js'
import { client } from '../state/session.js'
import { useLoad } from '../state/use-load.js'
import { usePages } from '../state/use-pages.js'
import { INVALID_BANK_ID, isBankId } from '../text/bank-id.js'
import { formatCount } from '../text/format.js'
import { Dialog } from './dialog.js'
import { Field } from './field.js'
import { FirstCall } from './first-call.js'
import { SafeText } from './safe-text.js'
import { EmptyState, ListingEnd } from './states.js'

const PAGE_SIZE = 100

/** The current bank, above the pages that show it. It opens the dialog in which another one is chosen. */
export function BankButton () {
  const bank = currentBank.value
  return (
    <button type='button' class='bank-button' aria-haspopup='dialog' onClick={() => { isChoosingBank.value = true }}>
      <span class='bank-button-label'>Bank</span>{' '}
      <span class='bank-button-name'>
        {bank === '' ? 'Choose a bank' : <SafeText text={bank} isExpandable={false} truncateAt={80} />}
      </span>
      <span class='bank-button-mark' aria-hidden='true'>▾</span>
      {bank === '' && <OnlyBank />}
    </button>
  )
}

/** Chooses the bank for a user who may read just one. */
function OnlyBank () {
  const { data } = useLoad(async (signal) => await firstPage(client.value.listBanks({ limit: 2 }, { signal })), [])
  const only = data?.banks.length === 1 && data.next_cursor === null ? data.banks[0]?.bank_id : undefined
  useEffect(() => { if (only !== undefined) chooseOnlyBank(only) }, [only])
  return null
}

export function BankDialog () {
  const close = () => { isChoosingBank.value = false }
  // The next user has not asked for it.
  useEffect(() => close, [])
  return (
    <Dialog title='Choose a bank' isOpen={isChoosingBank.value} onClose={close}>
      <div onClick={({ target, ctrlKey, metaKey, shiftKey }) => {
        // With one of these keys a link opens elsewhere.
        const isFollowed = target instanceof Element && target.closest('a') !== null
        if (isFollowed && !ctrlKey && !metaKey && !shiftKey) close()
      }}
      >
        <BankChoice />
      </div>
    </Dialog>
  )
}

/** In the place of a page that shows a bank, when none is chosen, or its id cannot be one. */
export function NoBank () {
  return (
    <section class='card' aria-labelledby='no-bank'>
      <h2 id='no-bank'>Which bank?</h2>
      {currentBank.value !== '' && <p class='field-error' role='alert'>{INVALID_BANK_ID}</p>}
      <p>A bank is a memory of its own, for example of one user or one team.</p>
      <BankChoice showsFirstCall />
    </section>
  )
}

/** The banks that the caller may read, as links, and a field that filters them and takes any other id. */
function BankChoice ({ showsFirstCall = false }: { showsFirstCall?: boolean }) {
  const [text, setText] = useState('')
  const entered = useRef<HTMLAnchorElement>(null)
  const { items, error, isLoading, hasMore, loadMore } = usePages(async (cursor, signal) => {
    const query = { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }
    const { banks, next_cursor: next } = await firstPage(client.value.listBanks(query, { signal }))
    return { items: banks, cursor: next }
  }, [])
  const id = text.trim()
  const isInvalid = id !== '' && !isBankId(id)
  const rows = items.filter(({ bank_id: bank }) => bank.toLowerCase().includes(id.toLowerCase()))
  const isEmpty = items.length === 0 && !hasMore && !isLoading && error === undefined
  return (
    <>
      <form onSubmit={(event) => {
        event.preventDefault()
        // Like a click on the link, so that the page can ask before it is left.
        entered.current?.click()
      }}
      >
        <Field
          label='Bank id' hint='Enter any id, or part of one to find it below.'
          error={isInvalid ? INVALID_BANK_ID : undefined}
        >
          {(attributes) => (
            <input
              {...attributes} value={text} autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { setText(currentTarget.value) }}
            />
          )}
        </Field>
      </form>
      <ul class='bank-choices' aria-label='Banks'>
        {id !== '' && !isInvalid && (
          <li>
            <a ref={entered} href={hrefOfBank(id)}>Use <strong><SafeText text={id} isExpandable={false} /></strong></a>
          </li>
        )}
        {rows.filter(({ bank_id: bank }) => bank !== id).map(({ bank_id: bank, memory_count: count }) => (
          <li key={bank}>
            <a
              href={hrefOfBank(bank)}
              {...(bank === currentBank.value && { 'aria-current': 'true' as const })}
            >
              <SafeText text={bank} isExpandable={false} />
            </a>{' '}
            <span class='bank-count'>{formatCount(count, 'memory', 'memories')}</span>
          </li>
        ))}
      </ul>
      {isEmpty && (showsFirstCall
        ? <FirstCall title='There is no bank that you may read yet.' />
        : <EmptyState title='There is no bank that you may read.' />)}
      <ListingEnd error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} />
    </>
  )
}
