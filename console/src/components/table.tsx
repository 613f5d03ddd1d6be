import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ComponentChildren
  /** Numbers are aligned to the right. */
  isNumber?: boolean
  /** The column that names the row. */
  isHeader?: boolean
}

interface Props<Row> {
  caption: string
  columns: ReadonlyArray<Column<Row>>
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Whether the caption is for screen readers only, because a heading already has the same text. Default true. */
  isCaptionHidden?: boolean
}

/** A table in a box that scrolls horizontally on narrow screens. */
export function Table<Row> ({ caption, columns, rows, keyOf, isCaptionHidden = true }: Props<Row>) {
  return (
    <div class='table-box' role='region' aria-label={caption} tabIndex={0}>
      <table>
        <caption class={isCaptionHidden ? 'visually-hidden' : ''}>{caption}</caption>
        <thead>
          <tr>{columns.map(({ title, isNumber }) => (
            <th key={title} scope='col' class={isNumber === true ? 'number' : ''}>{title}</th>
          ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber, isHeader }) => isHeader === true
                ? <th key={title} scope='row'>{cell(row)}</th>
                : <td key={title} class={isNumber === true ? 'number' : ''}>{cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
