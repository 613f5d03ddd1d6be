import type { BankAccess } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { Table } from '../../components/table.js'
import { hrefOf } from '../../state/router.js'
import { formatCount } from '../../text/format.js'
import { BankFilter, matchesFilter, NO_FILTER } from './bank-filter.js'

export const PERMISSIONS = ['read', 'write', 'forget', 'admin'] as const
export type Permission = typeof PERMISSIONS[number]

/** What one principal may do on one bank. */
export interface MatrixRow extends BankAccess {
  /** Null: an anonymous caller. */
  principal: string | null
}

interface Props {
  caption: string
  rows: readonly MatrixRow[]
  hasMore: boolean
}

/** A row for each bank and principal; each cell shows the rule that grants the permission, or that none does. */
export function PermissionMatrix ({ caption, rows, hasMore }: Props) {
  const [filter, setFilter] = useState(NO_FILTER)
  const shown = rows.filter(({ bank_id: id, permissions }) => matchesFilter(filter, id, permissions.length))
  return (
    <>
      <BankFilter
        filter={filter} onChange={setFilter} hasMore={hasMore} shownCount={shown.length}
        shown={formatCount(shown.length, 'row')}
      />
      <Table
        caption={caption} rows={shown} keyOf={({ principal, bank_id: bank }) => `${principal ?? ''} ${bank}`} columns={[
          {
            title: 'Bank',
            isHeader: true,
            cell: ({ bank_id: bank }) => (
              <a
                class='access-name'
                href={hrefOf('banks', { bank })}
              >
                <SafeText text={bank} isExpandable={false} truncateAt={80} />
              </a>
            ),
          },
          {
            title: 'Principal',
            cell: ({ principal }) => <span class='access-name'><Principal principal={principal} /></span>,
          },
          ...PERMISSIONS.map((permission) => ({
            title: permission,
            cell: (row: MatrixRow) => <PermissionCell row={row} permission={permission} />,
          })),
        ]}
      />
    </>
  )
}

export function Principal ({ principal }: { principal: string | null }) {
  return principal === null || principal === ''
    ? <em>anonymous</em>
    : <SafeText text={principal} isExpandable={false} truncateAt={80} />
}

function PermissionCell ({ row: { permissions }, permission }: { row: MatrixRow, permission: Permission }) {
  const found = permissions.find((entry) => entry.permission === permission)
  if (found === undefined) {
    return <span class='access-none'><span aria-hidden='true'>–</span><span class='visually-hidden'>no</span></span>
  }
  return (
    <span class='access-cell'>
      <span class='badge good'><span aria-hidden='true'>✓ </span>yes</span>
      <span class='access-rule'><SafeText text={found.granted_by} isExpandable={false} truncateAt={120} /></span>
    </span>
  )
}
