/** The mark by which the next process knows what it need not read. */
import { beforeEach, expect, test } from 'vitest'
import { RecordStore } from '../../../test/support/record-store.ts'
import { namespaces } from '../../../test/support/registry-fixture.ts'
import { VerifiedMark } from './verified-mark.ts'

let store: RecordStore
let mark: VerifiedMark
beforeEach(() => {
  store = new RecordStore()
  for (const name of ['default', 'kube-system', 'kube-public']) {
    store.put('namespaces', '', name, { metadata: { name } })
  }
  mark = new VerifiedMark({ records: store.records, stored: store.stored } as never, namespaces)
})

test('is read as it was written', async () => {
  expect(mark.read()).toBeUndefined()
  await mark.write({ revision: 12, except: new Set(['a', 'b']) })
  expect(mark.read()).toEqual({ revision: 12, except: new Set(['a', 'b']) })
  expect(store.read('borough', '', 'verified')).toEqual({
    ...{ metadata: { name: 'verified' }, revision: 12, except: ['a', 'b'], store: [11, 12, 13, 0] },
  })
  await mark.write({ revision: 14, except: new Set() })
  expect(mark.read()).toEqual({ revision: 14, except: new Set() })
})

test('is not believed of another store, nor of a revision to come', async () => {
  await mark.write({ revision: 13, except: new Set() })
  store.put('namespaces', '', 'default', { metadata: { name: 'default' } })
  expect(mark.read()).toBeUndefined()
  await mark.write({ revision: 17, except: new Set() })
  expect(mark.read()).toBeUndefined()
})

test('stands where another process left its own meanwhile', async () => {
  store.meanwhile = () => store.put('borough', '', 'verified', { metadata: { name: 'theirs' } })
  await mark.write({ revision: 12, except: new Set() })
  expect(store.read('borough', '', 'verified')).toEqual({ metadata: { name: 'theirs' } })
})

test('is left as it is where so much differs that a new one says nothing', async () => {
  const names = (count: number): Set<string> => new Set(Array.from({ length: count }, (_, i) => `n${i}`))
  await mark.write({ revision: 12, except: names(1001) })
  expect(mark.read()).toBeUndefined()
  await mark.write({ revision: 12, except: names(1000) })
  expect(mark.read()?.except.size).toBe(1000)
})
