import { useRef, useState } from 'preact/hooks'
import { FirstCall } from '../../components/first-call.js'
import { FormDialog } from '../../components/form-dialog.js'
import { usePermissions } from '../../components/permission.js'
import { StateSelect } from '../../components/state-select.js'
import { Failure } from '../../components/states.js'
import { changeParams, route } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatNumber } from '../../text/format.js'
import type { Metadata } from '../../text/metadata.js'
import { MemoryActions, type MemoryAction } from './actions.js'
import { ExportPanel } from './export.js'
import { FilterForm } from './filter-form.js'
import { applyFilters, countFilters, filtersOf, listRequest } from './filters.js'
import { ForgetSelectionDialog } from './forget-selection-dialog.js'
import { ForgetDialog, type Selection } from './forget-dialog.js'
import { ImportPanel, STOPPED_IMPORT } from './import.js'
import { MemoryList } from './memory-list.js'
import { MemoryView } from './memory-view.js'
import { RetainForm } from './retain-form.js'
import { SearchResults } from './search-results.js'
import { Summary } from './summary.js'
import type { Undo } from './undo.js'
import { UndoNotice, type Forgotten } from './undo-notice.js'
import { useMemoryRows } from './use-memory-rows.js'

/** The memories of one bank. */
export function MemoryBrowser ({ bank }: { bank: string }) {
  const { params } = route.value
  const filters = filtersOf(params)
  const memory = params.get('memory') ?? ''
  const [metadata, setMetadata] = useState<Metadata | undefined>(undefined)
  const [query, setQuery] = useState('')
  const [openDialog, setOpenDialog] = useState<MemoryAction | undefined>(undefined)
  const [selection, setSelection] = useState<Selection | undefined>(undefined)
  const [forgotten, setForgotten] = useState<Forgotten | undefined>(undefined)
  const heading = useRef<HTMLHeadingElement>(null)
  const [focusRequests, setFocusRequests] = useState(0)
  const [changeCount, setChangeCount] = useState(0)
  const isGranted = usePermissions(bank)
  const statistics = useLoad(
    async (signal) => await client.value.getBankStatistics({ bank_id: bank }, { signal }), [bank, changeCount])
  const isSearching = query !== ''
  const isFiltered = countFilters(filters, metadata) > 0
  const rows = useMemoryRows(isSearching ? undefined : listRequest(bank, filters, metadata))
  const reload = () => {
    setChangeCount((count) => count + 1)
    rows.reload()
  }
  const retry = () => {
    setChangeCount((count) => count + 1)
    rows.retry()
  }
  const close = () => { setOpenDialog(undefined) }
  const choose = (id: string) => {
    setFocusRequests((count) => count + 1)
    changeParams({ memory: id }, { replace: memory !== '' })
  }
  const closeMemory = () => {
    changeParams({ memory: null })
    document.querySelector<HTMLElement>('.virtual-list')?.focus()
  }
  const onForgotten = (count: number, undo: Undo | undefined) => {
    close()
    setSelection(undefined)
    setForgotten({ count, undo })
    if (memory !== '') changeParams({ memory: null })
    reload()
  }
  const isEmpty = !isSearching && !isFiltered && rows.count === 0
  return (
    <>
      <div class='memories-bar'>
        <SearchForm query={query} onSearch={setQuery} />
        <MemoryActions isGranted={isGranted} onAction={setOpenDialog} />
      </div>
      {statistics.data !== undefined && statistics.data.memory_count > 0 &&
        <Summary bank={bank} statistics={statistics.data} />}
      {/* The list fails for the same reason, if it does. */}
      {statistics.error !== undefined && rows.error === undefined && !rows.isLoading &&
        <Failure error={statistics.error} retry={statistics.reload} isRetrying={statistics.isLoading} />}
      <FilterForm key={bank} filters={filters} metadata={metadata} onMetadata={setMetadata} />
      {forgotten !== undefined && (
        <UndoNotice
          // Preact compares keys by identity: each has its own progress.
          key={forgotten} forgotten={forgotten} onUndone={reload} onClose={() => {
            setForgotten((current) => current === forgotten ? undefined : current)
            heading.current?.focus()
          }}
        />
      )}
      <div class={memory === '' ? 'memories-panes' : 'memories-panes two'}>
        <section aria-labelledby='list'>
          <div class='memories-head'>
            <h2 id='list' ref={heading} tabIndex={-1}>{isSearching ? 'Search results' : 'All memories'}</h2>
            {!isSearching && (
              <p role='status'>{rows.count !== undefined &&
                `${formatNumber(rows.count)}${rows.isComplete ? '' : ' and more'}`}
              </p>
            )}
            <StateSelect
              class='small' aria-label='State' value={filters.state} onChange={(state) => { applyFilters({ state }) }}
            />
            {!isSearching && (
              <>
                <select
                  class='small' aria-label='Order' value={filters.order}
                  onChange={({ currentTarget }) => {
                    applyFilters({
                      order: currentTarget.value === 'oldest' ? 'oldest' : 'newest',
                    })
                  }}
                >
                  <option value='newest'>last retained first</option>
                  <option value='oldest'>first retained first</option>
                </select>
                <button type='button' class='small' onClick={reload}>Reload</button>
              </>
            )}
          </div>
          {isSearching
            ? (
              <SearchResults
                key={query} bank={bank} query={query} filters={filters} metadata={metadata} selected={memory}
                changeCount={changeCount} onChoose={choose}
              />
              )
            : isEmpty
              ? (
                <>
                  <FirstCall title='This bank is empty, or does not exist yet.' bank={bank} />
                  <p class='hint'>Superseded and retired memories, if it has any, are in another state above.</p>
                </>
                )
              : (
                <MemoryList
                  label='Memories' rows={{ ...rows, retry }} selected={memory} onChoose={choose}
                  isFiltered={isFiltered}
                />
                )}
        </section>
        {memory !== '' && (
          <MemoryView
            key={memory} bank={bank} id={memory} focusRequests={focusRequests} isGranted={isGranted}
            onClose={closeMemory} onChanged={reload}
            onForget={({ memory_id: id }) => { setSelection({ memory_ids: [id] }) }}
          />
        )}
      </div>
      <FormDialog
        title='Retain a memory' question='Discard this memory?' isOpen={openDialog === 'retain'} onClose={close}
      >
        {(closeForm) => (
          <RetainForm
            bank={bank} onRetained={reload} onClose={closeForm} onOpen={() => {
              setFocusRequests((count) => count + 1)
              closeForm()
            }}
          />
        )}
      </FormDialog>
      <FormDialog
        title='Export' question='Discard the export?' keep='Keep'
        loss='Its memories are not saved in a file yet.' isOpen={openDialog === 'export'} onClose={close}
      >
        {(closeForm) => <ExportPanel bank={bank} onStop={close} onClose={closeForm} />}
      </FormDialog>
      <FormDialog
        title='Import' question='Stop the import?' discard='Stop' keep='Continue'
        loss={STOPPED_IMPORT} isOpen={openDialog === 'import'} onClose={close}
      >
        {() => <ImportPanel bank={bank} onImported={reload} onClose={close} />}
      </FormDialog>
      <ForgetSelectionDialog
        bank={bank} isGranted={isGranted} isOpen={openDialog === 'forget'} filters={filters} metadata={metadata}
        isSearching={isSearching} onClose={close} onDone={onForgotten}
      />
      <ForgetDialog
        bank={bank} isGranted={isGranted} selection={selection} onDone={onForgotten}
        onClose={() => { setSelection(undefined) }}
      />
    </>
  )
}

/** The search form. The URL does not contain the search text, which may be confidential. */
function SearchForm ({ query, onSearch }: { query: string, onSearch: (query: string) => void }) {
  const [text, setText] = useState(query)
  return (
    <form
      role='search' class='memories-search' onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim())
      }}
    >
      <label for='memories-query'>Words</label>
      <input
        id='memories-query' type='search' value={text} autocomplete='off'
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          if (currentTarget.value === '') onSearch('')
        }}
      />
      <button type='submit'>Search</button>
      {query !== '' && (
        <button
          type='button' onClick={() => {
            setText('')
            onSearch('')
          }}
        >
          Show all
        </button>
      )}
    </form>
  )
}
