/**
 * A unit of `Type=notify` counts as started when systemd is told so, by a datagram to a Unix socket. Node sends none,
 * so `systemd-notify` does; the unit must say `NotifyAccess=all`.
 */
import { execFile } from 'node:child_process'
import type { Log } from '../base/log.ts'

/** Does nothing where no systemd waits. What goes wrong is logged: the unit's own deadline ends a start untold. */
export async function tellSystemd(state: 'READY=1' | 'STOPPING=1', log: Log): Promise<void> {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  await new Promise<void>((resolve) => {
    execFile('systemd-notify', [state], (error) => {
      if (error !== null) log.error({ error: error.message.trim(), state }, 'systemd could not be told')
      resolve()
    })
  })
}
