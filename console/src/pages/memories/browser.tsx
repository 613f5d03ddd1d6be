import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../../components/dialog.js'
import { changeParams, place } from '../../state/router.js'
import { formatNumber } from '../../text/format.js'
import type { Metadata } from '../../text/metadata.js'
import { ExportPanel } from './export.js'
import { FilterForm } from './filter-form.js'
import { applyFilters, countFilters, filtersOf, listRequest } from './filters.js'
import { ForgetBy } from './forget-by.js'
import { ForgetDialog, type Selection } from './forget-dialog.js'
import { ImportPanel } from './import.js'
import { MemoryList } from './memory-list.js'
import { MemoryView } from './memory-view.js'
import { RetainForm } from './retain-form.js'
import { SearchResults } from './search-results.js'
import { UndoNotice, type Forgotten } from './undo-notice.js'
import { useMemoryRows } from './use-memory-rows.js'

type Open = 'retain' | 'forget' | 'export' | 'import'

/** The memories of one bank. */
export function Browser ({ bank }: { bank: string }) {
  const { params } = place.value
  const filters = filtersOf(params)
  const memory = params.get('memory') ?? ''
  const [metadata, setMetadata] = useState<Metadata | undefined>(undefined)
  const [query, setQuery] = useState('')
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const [selection, setSelection] = useState<Selection | undefined>(undefined)
  const [forgotten, setForgotten] = useState<Forgotten | undefined>(undefined)
  const heading = useRef<HTMLHeadingElement>(null)
  const [focusRound, setFocusRound] = useState(0)
  const [changes, setChanges] = useState(0)
  const isSearching = query !== ''
  const rows = useMemoryRows(isSearching ? undefined : listRequest(bank, filters, metadata))
  const reload = () => {
    setChanges((count) => count + 1)
    rows.reload()
  }
  const close = () => { setOpen(undefined) }
  const choose = (id: string) => {
    setFocusRound((count) => count + 1)
    changeParams({ memory: id }, { replace: memory !== '' })
  }
  const closeMemory = () => {
    changeParams({ memory: null })
    document.querySelector<HTMLElement>('.virtual-list')?.focus()
  }
  const openButton = (name: Open, label: string) => (
    <button type='button' onClick={() => { setOpen(name) }}>{label}</button>
  )
  return (
    <>
      <div class='memories-bar'>
        <SearchForm query={query} onSearch={setQuery} />
        <div class='actions'>
          {openButton('retain', 'Retain…')}
          {openButton('forget', 'Forget…')}
          {openButton('export', 'Export…')}
          {openButton('import', 'Import…')}
        </div>
      </div>
      <FilterForm key={bank} filters={filters} metadata={metadata} onMetadata={setMetadata} />
      {forgotten !== undefined && (
        <UndoNotice
          forgotten={forgotten} onUndone={reload} onClose={() => {
            setForgotten(undefined)
            heading.current?.focus()
          }}
        />
      )}
      <div class={memory === '' ? 'memories-panes' : 'memories-panes two'}>
        <section aria-labelledby='list'>
          <div class='memories-head'>
            <h2 id='list' ref={heading} tabIndex={-1}>{isSearching ? 'Found' : 'All'}</h2>
            {!isSearching && (
              <>
                <p role='status'>{rows.count !== undefined && `${formatNumber(rows.count)}${rows.isComplete ? '' : ' and more'}`}</p>
                <select
                  class='small' aria-label='Order' value={filters.order}
                  onChange={({ currentTarget }) => { applyFilters({ order: currentTarget.value === 'oldest' ? 'oldest' : 'newest' }) }}
                >
                  <option value='newest'>newest first</option>
                  <option value='oldest'>oldest first</option>
                </select>
                <button type='button' class='small' onClick={rows.reload}>Load anew</button>
              </>
            )}
          </div>
          {isSearching
            ? (
              <SearchResults
                key={query} bank={bank} query={query} filters={filters} metadata={metadata} selected={memory}
                changes={changes} onChoose={choose}
              />
              )
            : (
              <MemoryList
                label='Memories' rows={rows} selected={memory} onChoose={choose}
                isFiltered={countFilters(filters, metadata) > 0}
              />
              )}
        </section>
        {memory !== '' && (
          <MemoryView
            key={memory} bank={bank} id={memory} focusRound={focusRound} onClose={closeMemory}
            onForget={({ memory_id: id }) => { setSelection({ memory_ids: [id] }) }}
          />
        )}
      </div>
      <Dialog title='Retain a memory' isOpen={open === 'retain'} onClose={close}>
        <RetainForm bank={bank} onRetained={reload} onClose={close} />
      </Dialog>
      <Dialog title='Export' isOpen={open === 'export'} onClose={close}><ExportPanel bank={bank} onClose={close} /></Dialog>
      <Dialog title='Import' isOpen={open === 'import'} onClose={close}>
        <ImportPanel bank={bank} onImported={reload} onClose={close} />
      </Dialog>
      <ForgetBy
        isOpen={open === 'forget'} tags={filters.tags} tagsMatch={filters.tagsMatch} onClose={close}
        onChoose={(chosen) => {
          close()
          setSelection(chosen)
        }}
      />
      <ForgetDialog
        bank={bank} selection={selection} onClose={() => { setSelection(undefined) }}
        onDone={(count, undo) => {
          setSelection(undefined)
          setForgotten({ count, undo })
          if (memory !== '') changeParams({ memory: null })
          reload()
        }}
      />
    </>
  )
}

/** The search text is kept out of the URL. */
function SearchForm ({ query, onSearch }: { query: string, onSearch: (query: string) => void }) {
  const [typed, setTyped] = useState(query)
  return (
    <form
      role='search' class='memories-search' onSubmit={(event) => {
        event.preventDefault()
        onSearch(typed.trim())
      }}
    >
      <label for='memories-query'>Full text</label>
      <input
        id='memories-query' type='search' value={typed} maxLength={8192} autocomplete='off'
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          if (currentTarget.value === '') onSearch('')
        }}
      />
      <button type='submit'>Search</button>
      {query !== '' && (
        <button
          type='button' onClick={() => {
            setTyped('')
            onSearch('')
          }}
        >Show all
        </button>
      )}
    </form>
  )
}
