import { expect, test } from 'vitest'
import { tableText } from './table.ts'

test('columns are as wide as their widest cell, and no line ends in blanks', () => {
  const rows = [
    ['ok', 'clock', ''],
    ['fail', 'größe', 'it ended'],
  ]
  expect(tableText(['STATUS', 'CHECK', 'FINDING'], rows)).toBe(
    'STATUS   CHECK   FINDING\nok       clock\nfail     größe   it ended\n',
  )
})

test('no rows make no table', () => {
  expect(tableText(['STATUS'], [])).toBe('')
})
