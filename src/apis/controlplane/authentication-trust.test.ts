import { describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { conflict } from '../../kube/status-error.ts'
import { authenticationTrust, publishAuthenticationTrust } from './authentication-trust.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const ref = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }
const dataOf = async (client: FakeClient): Promise<unknown> => (await client.get(configMaps, ref))['data']

describe('whom this server trusts', () => {
  test('is told to servers that ask it who somebody is, and said once', async () => {
    const client = new FakeClient()
    for (let start = 0; start < 2; start++)
      await publishAuthenticationTrust(client, authenticationTrust('CA', undefined))
    expect(await dataOf(client)).toEqual({ 'client-ca-file': 'CA' })
    expect(client.writes).toHaveLength(1)
  })

  test('names the proxies, in the form of upstream', () => {
    const trust = authenticationTrust('CA', {
      ca: 'PROXIES',
      allowedNames: [],
      usernameHeaders: ['x-remote-user'],
      uidHeaders: ['x-remote-uid'],
      groupHeaders: ['x-remote-group'],
      extraPrefixes: ['x-remote-extra-'],
    })
    expect(trust).toEqual({
      'client-ca-file': 'CA',
      'requestheader-client-ca-file': 'PROXIES',
      'requestheader-allowed-names': '[]',
      'requestheader-username-headers': '["x-remote-user"]',
      'requestheader-uid-headers': '["x-remote-uid"]',
      'requestheader-group-headers': '["x-remote-group"]',
      'requestheader-extra-headers-prefix': '["x-remote-extra-"]',
    })
  })

  test('replaces what is out of date, leaves what others added, and tries again after another replica', async () => {
    const client = new FakeClient()
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: ref,
      data: { 'client-ca-file': 'old', theirs: 'x' },
    })
    const update = client.update.bind(client)
    let lost = 0
    client.update = async (resource, object) => {
      if (lost++ === 0) throw conflict(resource, ref.name, 'somebody was faster')
      return update(resource, object)
    }
    await publishAuthenticationTrust(client, authenticationTrust('new', undefined))
    expect(await dataOf(client)).toEqual({ 'client-ca-file': 'new', theirs: 'x' })
    expect(lost).toBe(2)
  })
})
