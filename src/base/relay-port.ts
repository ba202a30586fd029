/** An ordered, lossless way to one other process. Messages are plain data, Maps and bytes. */
export interface RelayPort {
  send(message: unknown): void
  /** Once each, before anything can arrive. */
  onMessage(listener: (message: unknown) => void): void
  /** The other side is gone. */
  onClose(listener: () => void): void
}
