import { expect, test } from 'vitest'
import { type PopulateReady, populateReadyText } from './populate-ready-text.ts'

const names = ['MutatingAdmissionPolicy/borough-population-gate', 'MutatingWebhookConfiguration/borough-population']
const ready: PopulateReady = {
  ...{ cluster: 'https://127.0.0.1:6443', url: 'https://127.0.0.1:9443', policies: 'all', failOpen: false },
  registered: names,
}

test('what was registered is named in a line each, and what becomes of namespaces', () => {
  const begin =
    'Namespaces of https://127.0.0.1:6443 are populated from templates; webhooks at https://127.0.0.1:9443\n' +
    `Registered:\n  ${names.join('\n  ')}\n`
  const waiting = 'While no replica answers, namespaces are created and wait for their templates;\n'
  const set = 'those that a template gives labels, annotations or an end are'
  expect(populateReadyText(ready)).toBe(`${begin}${waiting}${set} refused\n`)
  expect(populateReadyText({ ...ready, failOpen: true })).toBe(`${begin}${waiting}${set} created without\n`)
  expect(populateReadyText({ ...ready, policies: 'none' })).toBe(
    `${begin}While no replica answers, namespaces are neither created nor changed; --fail-open lets them\n`,
  )
  expect(populateReadyText({ ...ready, policies: 'none', failOpen: true })).toBe(
    `${begin}While no replica answers, namespaces are created unasked (--fail-open) and populated later\n`,
  )
})
