/** In which order plugins are asked, whichever parts of the server bring them. */
import { expect, test } from 'vitest'
import { inAdmissionOrder } from './admission-order.ts'

const plugins = (...names: string[]) => names.map((name) => ({ name, handles: () => false }) as const)

test('what mutates namespaces comes before what checks them, and policies and webhooks before and after', () => {
  const given = plugins(
    ...['ValidatingAdmissionWebhook', 'RbacEscalation', 'CertificateSigningRequests', 'NamespaceTemplates'],
    ...['MutatingAdmissionWebhook', 'DefaultStorageClass', 'NamespaceExists', 'NamespaceLifecycle', 'DamagedObjects'],
  )
  expect(inAdmissionOrder(given).map(({ name }) => name)).toEqual([
    ...['DamagedObjects', 'NamespaceLifecycle', 'NamespaceExists', 'DefaultStorageClass', 'MutatingAdmissionWebhook'],
    ...['NamespaceTemplates', 'CertificateSigningRequests', 'RbacEscalation', 'ValidatingAdmissionWebhook'],
  ])
})

test('one that stands nowhere, or twice, is a fault of the server', () => {
  expect(() => inAdmissionOrder(plugins('New'))).toThrow('the order of admission lacks New')
  expect(() => inAdmissionOrder(plugins('LimitRanger', 'LimitRanger'))).toThrow('two admission plugins have one name')
})
