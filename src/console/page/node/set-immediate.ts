/** What code that is shared with the server uses of Node's setImmediate: a turn of the event loop, with no timer. */

const { port1, port2 } = new MessageChannel()
const due: (() => void)[] = []

port1.onmessage = () => due.shift()?.()

export function setImmediate(run: () => void): void {
  due.push(run)
  port2.postMessage(undefined)
}
