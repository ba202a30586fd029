/** What code that is shared with the server uses of node:net. */

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)

export const isIPv4 = (text: string): boolean => ipv4.test(text)

export function isIPv6(text: string): boolean {
  const [address = '', zone] = text.split('%', 2)
  if (!/^[\da-f:.]+$/i.test(address) || (zone !== undefined && !/^[\w.:-]+$/.test(zone))) return false
  const tail = address.slice(address.lastIndexOf(':') + 1)
  // Browsers take `1.2.3` and `010.0.0.1` there too.
  return !(tail.includes('.') && !isIPv4(tail)) && URL.canParse(`http://[${address}]/`)
}

export const isIP = (text: string): 0 | 4 | 6 => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0)
