/** What is asked and not stored. */
import { expect, it } from 'vitest'
import { startControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

it.each(['namespaces/default/localsubjectaccessreviews', 'subjectaccessreviews'])(
  'an answer to %s says what it is, whatever the question says of it',
  async (path) => {
    await using plane = await startControlPlane({ population: false })
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' }
    const question = { kind: '', apiVersion: '', spec: { user: 'u', resourceAttributes } }
    const { body } = await new Wire(plane).call('POST', `/apis/authorization.k8s.io/v1/${path}`, question)
    expect(body).toMatchObject({ kind: path.startsWith('n') ? 'LocalSubjectAccessReview' : 'SubjectAccessReview' })
    expect(Object.keys(body)[0]).toBe('kind')
    expect(body.apiVersion).toBe('authorization.k8s.io/v1')
  },
)
