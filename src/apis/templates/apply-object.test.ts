/** What becomes of changes by others, and of an apply that is refused. */
import { beforeEach, describe, expect, test } from 'vitest'
import { configMap, holding, team, World } from '../../../test/support/population-pass.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { AppliedObject } from './applied-records.ts'
import { mostCorrections } from './corrections.ts'
import { render } from './render.ts'
import type { NamespaceTemplate } from './types.ts'

let world: World
beforeEach(() => {
  world = new World()
})

describe('an apply that is refused', () => {
  const refused = forbidden({ group: '', resource: 'configmaps' }, 'c', 'no')
  const failure = { reason: 'Forbidden', message: 'configmaps "c" is forbidden: no', retriable: true }

  test('leaves what is ours ours, as this template’s', async () => {
    world.put(configMap, { isOurs: true, template: 'former' })
    world.failures.set('apply ConfigMap/c', refused)
    const [result] = await world.pass([holding('t', configMap)])
    expect(result).toMatchObject({ failure, applied: { template: 't', uid: 'uid of ConfigMap/c' } })
  })

  test('makes nothing ours that was only announced', async () => {
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c' })
    world.failures.set('apply ConfigMap/c', refused)
    expect(await world.pass([holding('t', configMap)])).toEqual([{ template: 't', object: 'ConfigMap/c', failure }])
  })
})

describe('what others change', () => {
  const strict = (): NamespaceTemplate => ({
    metadata: { name: 't', generation: 3 },
    spec: { objects: [{ drift: 'Strict', template: configMap }] },
  })
  const repeated = (template: NamespaceTemplate): void => {
    const [rendered] = render([template], team, () => ({ content: {}, digest: '' })).objects
    world.put(configMap)
    const digest = rendered?.config ?? ''
    world.claim({ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'uid of ConfigMap/c', digest })
  }

  test('is put back, and told', async () => {
    repeated(holding('t', configMap))
    const [result] = await world.pass([holding('t', configMap)])
    expect(result?.corrected).toEqual({ message: 'what others had changed was put back', isNews: true })
    expect((await world.pass([holding('t', configMap)]))[0]?.corrected?.isNews).toBe(false)
  })

  test('what was deleted is made again', async () => {
    repeated(holding('t', configMap))
    world.objects.clear()
    world.claim({ ...(world.claims.get('/ConfigMap/c') as AppliedObject), uid: 'former' })
    const [result] = await world.pass([holding('t', configMap)])
    expect(result?.corrected?.message).toBe('it had been deleted, and is made again')
  })

  test('an edit of the template is no correction', async () => {
    world.put(configMap, { isOurs: true })
    expect((await world.pass([holding('t', configMap)]))[0]).not.toHaveProperty('corrected')
  })

  test('what is added is told, and taken out by a strict template', async () => {
    repeated(holding('t', configMap))
    world.added.set('ConfigMap/c', { immutable: true })
    const [extended] = await world.pass([holding('t', configMap)])
    const message = 'it holds what the template does not: immutable; drift: Strict takes it out'
    expect(extended).toMatchObject({ extended: { reason: 'Extended', message }, applied: { content: '' } })
    repeated(strict())
    world.sent.length = 0
    const [replaced] = await world.pass([strict()])
    expect(replaced).not.toHaveProperty('extended')
    expect(world.sent).toEqual(['announce ConfigMap/c', 'apply ConfigMap/c', 'replace ConfigMap/c'])
  })

  test('a strict template stops after ten times within an hour, and keeps its claim', async () => {
    repeated(strict())
    for (let i = 0; i < mostCorrections; i++) world.corrections.note('n /ConfigMap/c')
    const [stopped] = await world.pass([strict()])
    expect(stopped).toMatchObject({
      failure: {
        reason: 'DriftStopped',
        message:
          'it was put back 10 times within an hour, and is left as other writers have it until that hour is over',
        retriable: false,
      },
      applied: { uid: 'uid of ConfigMap/c', template: 't' },
    })
    expect(world.sent).toEqual(['announce ConfigMap/c'])
    // An edit of the template begins anew.
    world.claim({ ...(world.claims.get('/ConfigMap/c') as AppliedObject), digest: 'former' })
    expect((await world.pass([strict()]))[0]?.outcome).toBe('configured')
  })
})
