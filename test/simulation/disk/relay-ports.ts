/** Two ends of a way between processes of one machine: in order, some time later, until the machine loses its power. */
import type { RelayPort } from '../../../src/base/relay-port.ts'
import { holdFor } from '../../../src/storage/relay/relay-holder.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { simulated } from '../runtime/simulated-process.ts'

const slowestMs = 1.5

/** Of another process, to the one that holds the store. */
export function portTo(storage: Storage): RelayPort {
  const [held, asking] = relayPorts()
  holdFor(held, storage, () => ({ condition: storage.condition?.(), scrub: undefined }))
  return asking
}

function relayPorts(): readonly [RelayPort, RelayPort] {
  const listeners: ((message: unknown) => void)[] = []
  return [end(listeners, 0), end(listeners, 1)]
}

function end(listeners: ((message: unknown) => void)[], mine: 0 | 1): RelayPort {
  const { disk, scheduler, random } = simulated
  const { generation } = disk
  let lastDue = 0
  return {
    send(message) {
      const copy = structuredClone(message)
      lastDue = Math.max(lastDue, scheduler.now + slowestMs * random.next())
      scheduler.after(lastDue - scheduler.now, () => {
        if (generation === disk.generation) listeners[1 - mine]?.(copy)
      })
    },
    onMessage(listener) {
      listeners[mine] = listener
    },
    onClose: () => undefined,
  }
}
