/** Milliseconds that this thread has worked. The wall clock says little on a busy machine. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
