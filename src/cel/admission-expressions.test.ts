import { describe, expect, it } from 'vitest'
import { type AdmissionFacts, compileMatchConditions, matchConditionProblem } from './admission-expressions.ts'

const facts: AdmissionFacts = {
  object: { metadata: { name: 'a', labels: { app: 'x' } }, spec: { replicas: 3 } },
  oldObject: undefined,
  request: {
    operation: 'CREATE',
    name: 'a',
    namespace: 'team',
    kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
    requestResource: { group: 'apps', version: 'v1', resource: 'deployments' },
    userInfo: { username: 'jane', groups: ['dev'] },
  },
  user: { username: 'jane', groups: ['dev'] },
  ask: (user, verb, what) => ({
    allowed: user.username === 'jane' && verb === 'breakglass' && 'resource' in what && what.resource === 'deployments',
    reason: '',
  }),
}

const verdict = (...expressions: string[]): unknown =>
  compileMatchConditions(expressions.map((expression, i) => ({ name: `c${i}`, expression }))).evaluate(facts)

describe('match conditions', () => {
  it('hold if all of them do', () => {
    expect(verdict("request.operation == 'CREATE'", 'object.spec.replicas > 2')).toEqual({ matches: true })
    expect(verdict("'dev' in request.userInfo.groups", "request.kind.kind == 'Pod'")).toEqual({ matches: false })
  })

  it('see that there is no old object, no namespace', () => {
    expect(verdict('oldObject == null && namespaceObject == null')).toEqual({ matches: true })
  })

  it('ask whether the user may do something', () => {
    expect(verdict("authorizer.requestResource.check('breakglass').allowed()")).toEqual({ matches: true })
    expect(
      verdict("authorizer.group('apps').resource('deployments').namespace('team').check('create').allowed()"),
    ).toEqual({ matches: false })
    expect(
      verdict(
        "authorizer.serviceAccount('team', 'bot').group('apps').resource('deployments').check('breakglass').allowed()",
      ),
    ).toEqual({ matches: false })
  })

  it('that is false weighs more than one that fails', () => {
    expect(verdict('object.missing == 1', 'false')).toEqual({ matches: false })
    expect(verdict('object.missing == 1', 'true')).toEqual({
      fault: 'invalid_error',
      errors: ["expression 'object.missing == 1' resulted in error: no such key: missing"],
    })
  })

  it('may ask six times in all, twice at once', () => {
    const twice = "authorizer.path('/a').check('get').allowed() || authorizer.path('/b').check('get').allowed()"
    expect(verdict(twice)).toEqual({ matches: false })
    expect(verdict(`${twice} || authorizer.path('/c').check('get').allowed()`)).toEqual({
      fault: 'invalid_error',
      errors: [expect.stringContaining('operation cancelled: actual cost limit exceeded')],
    })
  })

  it('are judged before they are stored', () => {
    expect(matchConditionProblem('object.spec')).toBe('must evaluate to bool but got dyn')
    expect(matchConditionProblem('params == null')).toContain("undeclared reference to 'params'")
    expect(matchConditionProblem('request.foo == 1')).toBe(
      "compilation failed: ERROR: <input>:1:8: undefined field 'foo'\n | request.foo == 1\n | .......^",
    )
    expect(matchConditionProblem('object.spec.replicas == 3')).toBeUndefined()
  })
})
