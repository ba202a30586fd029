/** Node's setImmediate, for code that is shared with the server: a turn of the event loop, without its timer. */

const { port1, port2 } = new MessageChannel()
const due: (() => void)[] = []

port1.onmessage = () => due.shift()?.()

export function setImmediate(run: () => void): void {
  due.push(run)
  port2.postMessage(undefined)
}
