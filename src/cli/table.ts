/** Lists as `-o wide` prints them: a line each, in columns. */

/** Three blanks between columns, as kubectl has them. Nothing for no rows. */
export function tableText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const lines = [columns, ...rows]
  const widths = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, lengthOf(line[i] ?? '')), 0))
  const padded = (cell: string, i: number): string => cell + ' '.repeat((widths[i] ?? 0) - lengthOf(cell))
  return lines.map((line) => `${line.map(padded).join('   ').trimEnd()}\n`).join('')
}

const lengthOf = (text: string): number => [...text].length
