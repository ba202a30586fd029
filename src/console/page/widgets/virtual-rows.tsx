/**
 * A table of any length: only the rows in sight are in the document. One stop of the tab key; arrows, Page Up and Down,
 * Home and End move the row that is meant, Enter opens it. The row that is meant is named to screen readers by
 * `aria-activedescendant`, since the element itself may come and go.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Column {
  readonly key: string
  readonly title: string
}

interface VirtualRowsProps<T> {
  readonly label: string
  /** Says in the style sheet how wide its columns are. */
  readonly layout: string
  readonly columns: readonly Column[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** In the order of the columns. */
  readonly cells: (row: T) => readonly ComponentChildren[]
  readonly onOpen: (row: T) => void
}

/** Above and below what is in sight. */
const spareRows = 6
const pageRows = 12

export function VirtualRows<T>({ label, layout, columns, rows, keyOf, cells, onOpen }: VirtualRowsProps<T>) {
  const scroller = useRef<HTMLDivElement>(null)
  const { top, height, rowHeight } = useScroll(scroller)
  const [meant, setMeant] = useState<string>()
  const meantAt = rows.findIndex((row) => keyOf(row) === meant)
  const first = Math.max(0, Math.floor(top / rowHeight) - spareRows)
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + spareRows)
  const shown = rows.slice(first, last)
  if (meantAt >= 0 && (meantAt < first || meantAt >= last)) shown.push(rows[meantAt] as T)

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

  return (
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
      <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * rowHeight}px` }}>
        {shown.map((row) => {
          const key = keyOf(row)
          const at = key === meant ? meantAt : first + shown.indexOf(row)
          return (
            <div
              role="row"
              id={idOf(key)}
              key={key}
              aria-rowindex={at + 2}
              aria-selected={key === meant}
              class="grid-row"
              style={{ transform: `translateY(${at * rowHeight}px)` }}
              onClick={(event) => isOwnClick(event) && onOpen(row)}
            >
              {cells(row).map((cell, i) => (
                <div role="gridcell" class={`cell ${columns[i]?.key}`} key={columns[i]?.key}>
                  {cell}
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
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

/** How high a row is says the style sheet: on a narrow screen it has two lines. */
function useScroll(scroller: { readonly current: HTMLElement | null }) {
  const [seen, setSeen] = useState({ top: 0, height: 800, rowHeight: 44 })
  const read = (): void => {
    const element = scroller.current
    if (element === null) return
    const rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row-height'))
    const next = { top: element.scrollTop, height: element.clientHeight, rowHeight }
    setSeen((old) => (old.top === next.top && old.height === next.height && old.rowHeight === rowHeight ? old : next))
  }
  useLayoutEffect(read, [])
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const resized = new ResizeObserver(read)
    resized.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [])
  return seen
}
