/**
 * Which rows of a long table are in the document, and whether it stands still. A scroll changes the answer once in a
 * few rows, and reads nothing of the layout but where it is.
 */
import { type ReadonlySignal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useCluster } from '../use-cluster.ts'

/** Above and below what is in sight. */
const spareRows = 8
/** Rows come and go so many at a time. */
const stepRows = 4
/** After the last scroll. */
const restMs = 250

interface RowsInSight {
  readonly first: number
  /** One after the last. */
  readonly end: number
  readonly rowHeight: number
}

/** The rows of a view of that height, from the first whose top is above `top`. */
export function rowsAt(top: number, height: number, rowHeight: number): RowsInSight {
  const step = Math.floor(top / rowHeight / stepRows) * stepRows
  const first = Math.max(0, step - spareRows)
  return { first, end: step + Math.ceil(height / rowHeight) + stepRows + spareRows, rowHeight }
}

/** How high a row is says the style sheet: on a narrow screen it has two lines. */
export function useRowsInSight(scroller: { readonly current: HTMLElement | null }): RowsInSight & {
  readonly isMoving: ReadonlySignal<boolean>
} {
  const { clock } = useCluster()
  const [shown, setShown] = useState(() => rowsAt(0, 800, 44))
  const isMoving = useMemo(() => signal(true), [])
  const size = useMemo(() => ({ height: 800, rowHeight: 44 }), [])
  const show = (top: number): void => {
    const next = rowsAt(top, size.height, size.rowHeight)
    setShown((old) =>
      old.first === next.first && old.end === next.end && old.rowHeight === next.rowHeight ? old : next,
    )
  }
  const measure = (): void => {
    const element = scroller.current
    if (element === null) return
    size.height = element.clientHeight
    size.rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row-height'))
    show(element.scrollTop)
  }
  useLayoutEffect(measure, [])
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const rest = () =>
      clock.after(restMs, () => {
        isMoving.value = false
      })
    let resting = rest()
    const scrolled = (): void => {
      isMoving.value = true
      resting.cancel()
      resting = rest()
      show(element.scrollTop)
    }
    const resized = new ResizeObserver(measure)
    resized.observe(element)
    element.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      resting.cancel()
      resized.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }, [])
  return { ...shown, isMoving }
}

/** Of the table around. */
export const MovingContext = createContext<ReadonlySignal<boolean>>(signal(false))

/** True once the table stood still with this row in it: about rows that fly by nothing is asked. */
export function useHasRested(): boolean {
  const isMoving = useContext(MovingContext)
  const [hasRested, setHasRested] = useState(false)
  useEffect(() => {
    if (hasRested) return undefined
    return isMoving.subscribe((moves) => {
      if (!moves) setHasRested(true)
    })
  }, [isMoving, hasRested])
  return hasRested
}
