/** Where a server that listens on `host` is reached: a wildcard is where one listens, not where one is reached. */
export function reachedUrl(host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `https://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
