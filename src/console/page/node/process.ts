/** Of Node's `process` what the page runs: expressions are given so much time of their thread. */
export const process = {
  threadCpuUsage: () => ({ user: performance.now() * 1000, system: 0 }),
}
