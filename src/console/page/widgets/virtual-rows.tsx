/**
 * A table of any length: only the rows in sight are in the document. One stop of the tab key; arrows, Page Up and Down,
 * Home and End move the row that is meant, Enter opens it. The row that is meant is named to screen readers by
 * `aria-activedescendant`, since the element itself may come and go.
 */
import { Component, type ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { MovingContext, useRowsInSight } from './rows-in-sight.ts'

export interface Column {
  readonly key: string
  readonly title: string
}

/** In the order of the columns. */
type CellsOf<T> = (row: T) => readonly ComponentChildren[]

interface VirtualRowsProps<T> {
  readonly label: string
  /** Says in the style sheet how wide its columns are. */
  readonly layout: string
  readonly columns: readonly Column[]
  /** A row that is the same as before is not made anew. */
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly cells: CellsOf<T>
  readonly onOpen: (row: T) => void
  /** What its cells tell on hover, for the row that is meant by the keyboard. */
  readonly detail?: (row: T) => string
}

const pageRows = 12

export function VirtualRows<T>({ label, layout, columns, rows, keyOf, cells, onOpen, detail }: VirtualRowsProps<T>) {
  const scroller = useRef<HTMLDivElement>(null)
  const { first, end, rowHeight, isMoving } = useRowsInSight(scroller)
  const [meant, setMeant] = useState<string>()
  const meantAt = useMemo(() => rows.findIndex((row) => keyOf(row) === meant), [rows, meant])
  const shown = rows.slice(first, end).map((row, i) => ({ row, at: first + i }))
  if (meantAt >= 0 && (meantAt < first || meantAt >= end)) shown.push({ row: rows[meantAt] as T, at: meantAt })

  const move = (event: KeyboardEvent): void => {
    const row = rows[meantAt]
    if (event.key === 'Enter' && row !== undefined) return onOpen(row)
    const to = target(event.key, meantAt, rows.length)
    const next = to === undefined ? undefined : rows[to]
    if (to === undefined || next === undefined) return
    event.preventDefault()
    setMeant(keyOf(next))
    bringIntoSight(scroller.current, to, rowHeight)
  }
  const press = (event: MouseEvent): void => {
    const row = isOwnClick(event) ? rows[rowUnder(event)] : undefined
    if (row !== undefined) onOpen(row)
  }

  const meantRow = rows[meantAt]
  return (
    <>
      <div
        class={`grid ${layout}`}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={meantAt < 0 ? undefined : idOf(meant)}
        tabIndex={0}
        ref={scroller}
        onKeyDown={move}
        onFocus={() => meantAt < 0 && rows[0] !== undefined && setMeant(keyOf(rows[0]))}
      >
        <div role="rowgroup" class="grid-head">
          <div role="row" aria-rowindex={1} class="grid-row">
            {columns.map(({ key, title }) => (
              <div role="columnheader" class={`cell ${key}`} key={key}>
                {title}
              </div>
            ))}
          </div>
        </div>
        <MovingContext.Provider value={isMoving}>
          <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * rowHeight}px` }} onClick={press}>
            {shown.map(({ row, at }) => {
              const key = keyOf(row)
              return (
                <Row
                  key={key}
                  id={idOf(key)}
                  row={row}
                  at={at}
                  top={at * rowHeight}
                  isMeant={key === meant}
                  columns={columns}
                  cells={cells}
                />
              )
            })}
          </div>
        </MovingContext.Provider>
      </div>
      {detail === undefined ? null : (
        <p class="grid-detail" aria-live="polite">
          {meantRow === undefined ? '' : detail(meantRow)}
        </p>
      )}
    </>
  )
}

interface RowProps<T> {
  readonly id: string
  readonly row: T
  readonly at: number
  readonly top: number
  readonly isMeant: boolean
  readonly columns: readonly Column[]
  readonly cells: CellsOf<T>
}

/** Made anew only when something of it has changed: of those in sight all but a few stay as one scrolls. */
class Row<T> extends Component<RowProps<T>> {
  override shouldComponentUpdate(next: Readonly<RowProps<T>>): boolean {
    const { row, top, isMeant, columns, cells } = this.props
    return (
      next.row !== row ||
      next.top !== top ||
      next.isMeant !== isMeant ||
      next.columns !== columns ||
      next.cells !== cells
    )
  }

  override render({ id, row, at, top, isMeant, columns, cells }: RowProps<T>) {
    return (
      <div
        role="row"
        id={id}
        aria-rowindex={at + 2}
        aria-selected={isMeant}
        class="grid-row"
        style={{ top: `${top}px` }}
      >
        {cells(row).map((cell, i) => (
          <div role="gridcell" class={`cell ${columns[i]?.key}`} key={columns[i]?.key}>
            {cell}
          </div>
        ))}
      </div>
    )
  }
}

/** Where in the table the row stands that was pressed. */
function rowUnder({ target: at }: MouseEvent): number {
  const row = at instanceof Element ? at.closest('[role="row"]') : null
  return Number(row?.getAttribute('aria-rowindex') ?? 0) - 2
}

/** References to elements are parted by spaces. */
const idOf = (key = ''): string => `row-${encodeURIComponent(key)}`

/** Links and buttons in a row do what they say. */
const isOwnClick = ({ target: at, defaultPrevented }: MouseEvent): boolean =>
  !defaultPrevented &&
  at instanceof Element &&
  at.closest('a, button') === null &&
  getSelection()?.isCollapsed !== false

function target(key: string, at: number, count: number): number | undefined {
  const within = (to: number): number => Math.max(0, Math.min(count - 1, to))
  switch (key) {
    case 'ArrowDown':
      return within(at + 1)
    case 'ArrowUp':
      return within(at - 1)
    case 'PageDown':
      return within(at + pageRows)
    case 'PageUp':
      return within(at - pageRows)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

function bringIntoSight(scroller: HTMLElement | null, at: number, rowHeight: number): void {
  if (scroller === null) return
  const headHeight = scroller.firstElementChild?.clientHeight ?? 0
  const top = at * rowHeight
  const bottom = top + rowHeight - (scroller.clientHeight - headHeight)
  if (scroller.scrollTop > top) scroller.scrollTop = top
  else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom
}
