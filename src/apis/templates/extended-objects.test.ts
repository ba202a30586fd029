import { expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { ExtendedObjects } from './extended-objects.ts'
import { describe as describeObject, servedKind } from './live-object.ts'
import type { PopulatedObject } from './populated-objects.ts'
import { templateNameLabel } from './types.ts'

const kind = servedKind({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
} as Parameters<typeof servedKind>[0])
const place = { namespace: 'team', name: 'one' }
const objectWith = (data: Record<string, string>, uid = 'u'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...place, uid, labels: { [templateNameLabel]: 't' } },
  data,
})

function stored(object: KubeObject): PopulatedObject {
  const described = describeObject(object, kind, { ...place, revision: 1 })
  if (described === undefined) throw new Error('the object has no label of a template')
  return described
}

const theirs = objectWith({ a: '1', b: 'theirs' })
const extended = 'it holds what the template does not: data.b; drift: Strict takes it out'

test.each<{ what: string; now: KubeObject; isTold: boolean }>([
  { what: 'the same object', now: theirs, isTold: true },
  { what: 'another content', now: objectWith({ a: '1' }), isTold: false },
  { what: 'another object in its place', now: objectWith({ a: '1', b: 'theirs' }, 'other'), isTold: false },
])('an addition is told of $what: $isTold', ({ now, isTold }) => {
  const objects = new ExtendedObjects()
  objects.note(kind, { object: theirs, config: 'config', extended })
  const expected = isTold ? { ...stored(now), applied: 'config', extended } : stored(now)
  expect(objects.describe(stored(now))).toEqual(expected)
})

test.each<{ what: string; end: (objects: ExtendedObjects) => void }>([
  { what: 'a write that left no addition', end: (o) => o.note(kind, { object: theirs, config: 'config' }) },
  { what: 'the deletion of the object', end: (o) => o.forget(kind, place.namespace, place.name) },
])('an addition is forgotten after $what', ({ end }) => {
  const objects = new ExtendedObjects()
  objects.note(kind, { object: theirs, config: 'config', extended })
  end(objects)
  expect(objects.describe(stored(theirs))).toEqual(stored(theirs))
})
