import { describe, expect, it } from 'vitest'
import { maxValues } from '../../src/kube/value-count.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { subjects } from '../generated/subjects.ts'
import { type LargestRequest, LargestRequests, placesIn } from './largest.ts'

const json = 'application/json'
const source = new LargestRequests(1, subjects())

describe('the largest bodies', () => {
  it('are of every list and map of every kind', () => {
    const titles = new Set(Array.from({ length: source.size }, (_, i) => source.titleAt(i)))
    expect(titles.size).toBeGreaterThan(2000)
    expect(titles).toContain('v1 Pod spec.containers[].env')
    for (const { title, schema } of subjects()) {
      for (const { path } of placesIn(schema)) {
        expect(titles).toContain(`${title} ${path.join('.').replaceAll('.[]', '[]')}`)
      }
    }
  })

  it('are the same for the same seed and number', () => {
    expect(new LargestRequests(1, subjects()).at(77)).toEqual(source.at(77))
  })

  it('are taken for what they are: none is refused for its size', async () => {
    await using plane = await startControlPlane({ population: false })
    const refused: string[] = []
    const creates = Array.from({ length: 20 }, (_, i) => source.at(i)[0]).filter((sent) => sent?.type === json)
    for (const { what, method, path, body = '' } of creates.slice(0, 4) as LargestRequest[]) {
      expect(body.length).toBeGreaterThan(maxValues)
      const response = await plane.fetch(path, { method, headers: { 'content-type': json }, body: String(body) })
      await response.arrayBuffer()
      if (response.status === 413) refused.push(what)
    }
    expect(refused).toEqual([])
  })
})
