import { useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { hrefOf, type Params } from '../../state/router.js'
import { formatCount } from '../../text/format.js'
import { BankFilter, matchesFilter, NO_FILTER } from './bank-filter.js'
import { PERMISSIONS, Principal, type MatrixRow } from './permission-matrix.js'

interface Props {
  rows: readonly MatrixRow[]
  hasMore: boolean
  /** Parameters of the URL that links to a single principal keep. */
  params: Params
}

/** A table for many principals: a row for each bank, a column for each principal, a letter for each permission. */
export function PermissionGrid ({ rows, hasMore, params }: Props) {
  const [filter, setFilter] = useState(NO_FILTER)
  const principals = [...new Set(rows.map(({ principal }) => principal))]
  const byBank = new Map<string, Map<string | null, MatrixRow>>()
  for (const row of rows) {
    const found = byBank.get(row.bank_id) ?? new Map<string | null, MatrixRow>()
    byBank.set(row.bank_id, found.set(row.principal, row))
  }
  const shown = [...byBank].filter(([bank, found]) => (
    [...found.values()].some(({ permissions }) => matchesFilter(filter, bank, permissions.length))))
  return (
    <>
      <BankFilter
        filter={filter} onChange={setFilter} hasMore={hasMore} shownCount={shown.length}
        shown={`${formatCount(shown.length, 'bank')}, ${formatCount(principals.length, 'principal')}`}
      />
      <p class='hint'>
        <strong>r</strong> read, <strong>w</strong> write, <strong>f</strong> forget, <strong>a</strong> admin. The name
        of a principal leads to its permissions with the rules that grant them.
      </p>
      <div class='table-box access-grid' role='region' aria-label='What many principals may do' tabIndex={0}>
        <table>
          <caption class='visually-hidden'>What many principals may do</caption>
          <thead>
            <tr>
              <th scope='col'>Bank</th>
              {principals.map((principal) => (
                <th key={principal} scope='col' class='access-grid-name'>
                  <a href={hrefOf('access', { ...params, view: 'anyone', principal })}>
                    <Principal principal={principal} />
                  </a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(([bank, found]) => (
              <tr key={bank}>
                <th scope='row'>
                  <a href={hrefOf('banks', { bank })}><SafeText text={bank} isExpandable={false} truncateAt={40} /></a>
                </th>
                {principals.map((principal) => <PermissionLetters key={principal} row={found.get(principal)} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function PermissionLetters ({ row }: { row: MatrixRow | undefined }) {
  const granted = PERMISSIONS.flatMap((name) => row?.permissions.find(({ permission }) => permission === name) ?? [])
  if (granted.length === 0) {
    return <td class='access-none'><span aria-hidden='true'>·</span><span class='visually-hidden'>nothing</span></td>
  }
  const names = granted.map(({ permission }) => permission)
  return (
    <td title={granted.map(({ permission, granted_by: rule }) => `${permission}: ${rule}`).join('\n')}>
      <span class='access-letters' aria-hidden='true'>
        {PERMISSIONS.map((name) => names.includes(name) ? name[0] : '\u00a0').join('')}
      </span>
      <span class='visually-hidden'>{names.join(', ')}</span>
    </td>
  )
}
