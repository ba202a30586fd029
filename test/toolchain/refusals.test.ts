import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const excused = readFileSync('tools/refusals-excused.tsv', 'utf8')
  .split('\n')
  .filter((line) => line !== '')

test('every excuse has a reason and a place, and stands where it would be looked for', () => {
  expect(excused).toEqual(excused.toSorted())
  expect(excused.filter((line) => line.split('\t').length !== 3)).toEqual([])
})

test('a place without an assertion is a fault, and so is an excuse that nobody needs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'refusals-'))
  const reached = "src/http/verbs/update.ts\tbadRequest('the namespace of the provided object does not match"
  const [file, text] = excused[0]?.split('\t') ?? []
  const record = { reached: [`${reached} the namespace sent on the request')`], asserted: [`${file}\t${text}`] }
  writeFileSync(join(folder, '1.json'), JSON.stringify(record))
  const env = { ...process.env, BOROUGH_REFUSALS: folder }
  const { status, stderr } = spawnSync(process.execPath, ['tools/refusals.ts'], { encoding: 'utf8', env })
  expect(status, stderr).toBe(1)
  expect(stderr).toContain(`not asserted whole\t${reached}`)
  expect(stderr).toContain(`excused, but asserted\t${file}\t${text}\n`)
  expect(stderr).not.toContain('excused, but no place')
  expect(stderr).not.toContain('excused without a reason')
  const [, places = ''] = /^(\d+) places make a refusal/m.exec(stderr) ?? []
  expect(Number(places)).toBeGreaterThan(1000)
})

test('without a record it says how one is made, and names no place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'refusals-'))
  const env = { ...process.env, BOROUGH_REFUSALS: folder }
  const { status, stderr } = spawnSync(process.execPath, ['tools/refusals.ts'], { encoding: 'utf8', env })
  expect(status).toBe(1)
  const said = `no test has recorded anything in ${folder}: run vitest with BOROUGH_REFUSALS=${folder}\n`
  expect(stderr).toBe(said)
})
