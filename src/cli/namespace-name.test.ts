/** Namespaces as people type them. */
import { expect, test } from 'vitest'
import { namespaceNamed } from './namespace-name.ts'

test.each([
  ['team-a', 'team-a'],
  ['ns/team-a', 'team-a'],
  ['namespace/team-a', 'team-a'],
  ['namespaces/team-a', 'team-a'],
  // Of something else: there is no namespace of this name, which is told then.
  ['pods/team-a', 'pods/team-a'],
  ['ns/', ''],
])('%j names %j', (text, name) => expect(namespaceNamed(text)).toBe(name))
