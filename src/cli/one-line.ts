/** What went wrong, for a terminal. */
import { visibleText } from '../base/shell-text.ts'

/** One line, no stack, and what to do where that is known. */
export function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return visibleText(String(error))
  const hint = hintOf(error)
  // A server's message may repeat what a client wrote.
  const text = visibleText(error.message.split('\n')[0] ?? error.name)
  return hint === undefined ? text : `${text}: ${hint}`
}

function hintOf(error: Error): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is taken, choose another with --listen'
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address, choose another with --listen'
    case 'EACCES':
      // Of files the message itself says that permission is denied.
      return syscall === 'listen'
        ? 'ports below 1024 take the capability CAP_NET_BIND_SERVICE, choose another with --listen'
        : undefined
    default:
      return undefined
  }
}
