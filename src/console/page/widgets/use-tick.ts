/** For what no watch tells of. */
import { useEffect, useState } from 'preact/hooks'
import { useCluster } from '../use-cluster.ts'

/** A number that grows every so often; undefined = it stays. */
export function useTick(everyMs: number | undefined): number {
  const { clock } = useCluster()
  const [tick, setTick] = useState(0)
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = clock.after(everyMs, () => setTick((n) => n + 1))
    return () => timer.cancel()
  }, [everyMs, tick])
  return tick
}
