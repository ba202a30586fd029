/** Times as Go prints them: UTC, with no or six digits after the second. */

const shape = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/

/** Anything that is not an RFC 3339 time comes back unchanged. */
export function printedTime(text: string, fractionDigits: number): string {
  const match = shape.exec(text)
  if (!match) return text
  const [, date, time, fraction = '', zone] = match
  const digits = fractionDigits === 0 ? '' : `.${fraction.slice(0, fractionDigits).padEnd(fractionDigits, '0')}`
  if (zone === 'Z') return `${date}T${time}${digits}Z`
  const utc = new Date(`${date}T${time}${zone}`)
  return Number.isNaN(utc.getTime()) ? text : `${utc.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}${digits}Z`
}
