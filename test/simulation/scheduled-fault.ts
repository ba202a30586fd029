/** What befalls a world at a moment, and may end later. */
import type { Scheduler } from './scheduler.ts'

export interface ScheduledFault<World> {
  readonly at: number
  readonly lastsMs: number
  readonly text: string
  begin(world: World): void
  end?(world: World): void
}

export function scheduleFaults<World>(
  scheduler: Scheduler,
  world: World,
  faults: readonly ScheduledFault<World>[],
): void {
  for (const { at, lastsMs, text, begin, end } of faults) {
    scheduler.after(at, () => {
      scheduler.tell(`fault: ${text}`)
      begin(world)
      if (end) scheduler.after(lastsMs, () => end(world))
    })
  }
}
