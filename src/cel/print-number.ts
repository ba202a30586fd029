/** A double as Go's `%g` prints it: what `string(1.5e6)` is. */
export function printDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  const digits = mantissa.replace(/[-.]/g, '').length
  if (power < -4 || power >= 6) return `${mantissa}e${power < 0 ? '-' : '+'}${pad(power)}`
  if (Math.abs(value) < 1e21 && Math.abs(value) >= 1e-6) return String(value)
  return value.toFixed(Math.max(0, digits - 1 - power))
}

const pad = (power: number): string => String(Math.abs(power)).padStart(2, '0')
