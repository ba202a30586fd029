/** For each dimension of the model a history that fails if that dimension is not kept. */
import type { Step } from './steps.ts'
import { plainShape, type Shape, steps } from './steps.ts'

const { apply, confirm, create, disable, drop, label, make, patch, pass, pause, remove, restart, source, write } = steps
const shape = (more: Partial<Shape>): Shape => ({ ...plainShape, ...more })
const inX = { labels: { tier: 'x' } }
const inY = { labels: { tier: 'y' } }
const older = { labels: { 'pod-security.kubernetes.io/enforce-version': 'v1.0' } }
const size = (value: string | null) => ({ labels: { size: value } })
const optOut = (value: string | null) => ({ annotations: { 'policy/namespace-template-opt-out': value } })

export const histories: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  'a value that changes, a bad one, and one that is missing': [
    [write('a', shape({ size: 'optional', meta: 'size', objects: { param: '1', plain: '1' } })), make('n0', inX)],
    [label('tenant', 'n0', size('large'))],
    [label('tenant', 'n0', size('huge')), label('tenant', 'n0', size(null))],
    [label('tenant', 'n0', size('large'))],
    [write('a', shape({ size: 'small', meta: 'size', objects: { param: '2' } }))],
    [remove('n0', 'a-param')],
    [label('tenant', 'n0', size('small'))],
    [write('a', shape({ size: 'required', cost: true, objects: { param: '2', plain: '2' } }))],
    [label('tenant', 'n0', { annotations: { cost: '1234' } })],
  ],
  'labels of the namespace': [
    [write('a', shape({ meta: 'fixed' })), make('n0', inX), make('n1', inX)],
    [label('tenant', 'n0', { labels: { 'example.com/of-a': null } })],
    [write('a', shape({ size: 'optional', meta: 'size' }))],
    [label('tenant', 'n0', size('large'))],
    [label('admin', 'n1', { labels: { tier: null } })],
    [write('a', shape({}))],
  ],
  'a level of Pod Security, and a namespace of older standards': [
    [write('a', shape({ tiers: ['x'], meta: 'level' })), make('n0', inY), make('n1', inX)],
    [label('tenant', 'n0', older), label('tenant', 'n1', older)],
    [label('tenant', 'n0', inX)],
    [label('tenant', 'n0', { labels: { ...older.labels, ...inX.labels } })],
    [write('b', shape({ tiers: ['y'], meta: 'level' }))],
  ],
  'a level of Pod Security that an edit brings to a namespace of older standards': [
    [write('a', shape({ tiers: ['x'] })), make('n0', { labels: { ...older.labels, ...inX.labels } })],
    [write('a', shape({ tiers: ['x'], meta: 'level' }))],
  ],
  'a condition': [
    [write('a', shape({ size: 'optional', objects: { when: '1' } })), make('n0', inX)],
    [create('n0', 'a-when')],
    [label('tenant', 'n0', size('large'))],
    [remove('n0', 'a-when'), label('tenant', 'n0', size('small'))],
    [label('tenant', 'n0', size('large'))],
    [label('tenant', 'n0', size(null))],
  ],
  strictness: [
    [write('a', shape({ objects: { strict: '1', plain: '1' } })), make('n0', inX)],
    [patch('n0', 'a-strict', { data: { b: 'more' } }), patch('n0', 'a-plain', { data: { b: 'more' } })],
    [patch('n0', 'a-strict', { data: null }), apply('n0', 'a-strict', 'kubectl')],
  ],
  protection: [
    [write('a', shape({ objects: { protect: '1', plain: '1' } })), make('n0', inX)],
    [patch('n0', 'a-protect', { data: { a: 'theirs' } }), remove('n0', 'a-protect'), create('n0', 'a-protect')],
    [write('a', shape({ objects: { protect: '2', plain: '1' }, size: 'required' }))],
    [label('tenant', 'n0', size('small'))],
    [write('a', shape({}))],
  ],
  'fields that are left to a manager': [
    [write('a', shape({ objects: { yield: '1', plain: '1' } })), make('n0', inX)],
    [apply('n0', 'a-yield', 'scaler'), apply('n0', 'a-plain', 'scaler')],
    [write('a', shape({ objects: { yield: '2', plain: '2' } }))],
    [remove('n0', 'a-yield')],
    [apply('n0', 'a-yield', 'kubectl')],
  ],
  'copies, while their source changes, consents no more, goes and comes back': [
    [source('a', '1', '*'), write('a', shape({ clone: true })), make('n0', inX), make('n1', inY)],
    [source('a', '2', '*'), patch('n0', 's-a', { data: { key: 'theirs' } })],
    [source('a', '3', 'tier=x')],
    [source('a', '4')],
    [source('a', undefined)],
    [source('a', '5', '*')],
    [write('a', shape({}))],
  ],
  owners: [
    [
      write('a', shape({ objects: { owner: '1' } })),
      make('n0', { ...inX, annotations: { 'borough.dev/owner': 'olga' } }),
      make('n1', inX),
    ],
    [label('tenant', 'n0', { annotations: { 'borough.dev/owner': 'tenant' } })],
    [label('admin', 'n0', { annotations: { 'borough.dev/owner': null } }), patch('n0', 'a-owner', { data: null })],
  ],
  ends: [
    [write('a', shape({ expiry: true }))],
    [
      make('n0', { ...inX, annotations: { 'borough.dev/ttl': '1000h' } }),
      make('n1', inX),
      make('n2', { ...inX, annotations: { 'borough.dev/ttl': '1000h', 'borough.dev/deletion-protection': 'true' } }),
    ],
    [pass(900)],
    [pass(200)],
    [label('admin', 'n2', { annotations: { 'borough.dev/deletion-protection': null } })],
    [pass(1000)],
  ],
  'a finalizer at the end': [
    [
      write('a', shape({})),
      make('n0', { ...inX, finalizers: ['example.com/held'], annotations: { 'borough.dev/ttl': '10h' } }),
    ],
    [pass(11)],
    [label('admin', 'n0', { finalizers: null })],
  ],
  'opting out, and in again': [
    [write('a', shape({ objects: { plain: '1', protect: '1' }, meta: 'fixed' })), make('n0', inX)],
    [label('tenant', 'n0', optOut('true'))],
    [label('admin', 'n0', optOut('true'))],
    [patch('n0', 'a-plain', { data: { a: 'theirs' } }), patch('n0', 'a-protect', { data: { a: 'theirs' } })],
    [patch('n0', 'a-plain', { data: { b: 'more' } })],
    [write('a', shape({ objects: { plain: '2' } }))],
    [label('admin', 'n0', optOut(null))],
  ],
  relabelling: [
    [write('a', shape({ tiers: ['x'], meta: 'fixed' })), write('b', shape({ tiers: ['y'] })), make('n0', inX)],
    [label('tenant', 'n0', inY)],
    [label('tenant', 'n0', inX)],
    [label('tenant', 'n0', { labels: { tier: null } })],
  ],
  'the switch that pauses all': [
    [write('a', shape({ objects: { plain: '1', strict: '1' } })), make('n0', inX), make('n1', inX)],
    [pause(true)],
    [patch('n0', 'a-plain', { data: { a: 'theirs' } }), remove('n1', 'a-strict'), write('a', shape({}))],
    [make('n2', inX)],
    [drop('a')],
    [pause(false)],
  ],
  'halted prunes': [
    [
      write('a', shape({ objects: { plain: '1', strict: '1' }, meta: 'fixed', maxPrune: 1 })),
      ...['n0', 'n1', 'n2'].map((n) => make(n, inX)),
    ],
    [write('a', shape({ objects: { plain: '2' }, maxPrune: 1 }))],
    [restart()],
    [confirm('a')],
    [drop('a')],
    [confirm('a')],
  ],
  'a prune that was written while the template was disabled': [
    [
      write('a', shape({ objects: { plain: '1', strict: '1' }, maxPrune: 1 })),
      ...['n0', 'n1', 'n2'].map((n) => make(n, inX)),
    ],
    [disable('a', true)],
    [write('a', shape({ maxPrune: 1 }))],
    [restart()],
    [disable('a', false)],
    [confirm('a')],
  ],
  'a template that leaves everything in place': [
    [write('a', shape({ orphan: true, objects: { plain: '1', protect: '1' } })), make('n0', inX)],
    [write('a', shape({ orphan: true }))],
    [drop('a')],
    [write('a', shape({}))],
  ],
  'a template that is disabled': [
    [write('a', shape({ objects: { plain: '1' }, meta: 'fixed' })), make('n0', inX)],
    [disable('a', true)],
    [patch('n0', 'a-plain', { data: { a: 'theirs' } })],
    [patch('n0', 'a-plain', { data: { b: 'more' } })],
    [disable('a', false)],
  ],
}
