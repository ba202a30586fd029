/**
 * A client whose writes are dry runs, and that remembers what each of them would have changed. What populates through
 * it populates nothing.
 */

import { parseJsonText } from '../../base/parse-json-text.ts'
import type { ApplyOptions } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { apiVersionOf, type GroupVersionResource } from '../../kube/gvk.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AlikeAnswers } from './alike-answers.ts'
import { differences } from './differences.ts'
import { digestOf } from './digest.ts'
import { contentOf } from './marks.ts'
import { PlaceTexts } from './place-texts.ts'
import type { PopulateDeps } from './populate.ts'
import type { PopulatedObject, PopulatedObjects } from './populated-objects.ts'
import { takenKey } from './taken-names.ts'

/** One object before and after; `before` undefined = it would be created. */
export interface DryRunChange {
  readonly before: KubeObject | undefined
  readonly after: KubeObject
}

export interface DryRun {
  readonly client: PopulateDeps['client']
  /** `RoleBinding/admin` */
  find(title: string): DryRunChange | undefined
  /** Something was not asked of the server, since it answered the same question alike elsewhere. */
  isShared(): boolean
  /** What was asked, as `AlikeAnswers` knows it; undefined: something else too, which stands for no other namespace. */
  questions(): Questions | undefined
}

export interface Questions {
  readonly asked: readonly string[]
  /** What would be made of something, which may be otherwise elsewhere though all is alike. */
  readonly isOfWrites: boolean
}

export interface DryRunDeps {
  readonly client: PopulateDeps['client']
  readonly namespace: Namespace
  readonly index: Pick<PopulatedObjects, 'find'>
  /** Absent: each question is asked. */
  readonly alike?: AlikeAnswers
  /** The texts of the namespace, where they are known already. */
  readonly texts?: PlaceTexts
  /** Names in it that others have: see `TakenNames`. */
  readonly taken?: ReadonlySet<string>
}

type Ref = { readonly namespace?: string; readonly name: string }

const placeOf = (resource: GroupVersionResource, name: string): string =>
  `${apiVersionOf(resource)}/${resource.resource}/${name}`

interface Answered<T> {
  readonly ask: () => Promise<T>
  /** What of an answer must be alike. */
  readonly said: (answer: T) => unknown
  /** An answer that was given about the same in another namespace. */
  readonly here?: (answer: T, live: PopulatedObject | undefined) => T
}

/** Asks about one namespace what no others have answered alike. */
function startAsking(deps: Omit<DryRunDeps, 'client'>) {
  const { namespace, index, alike, texts = new PlaceTexts(namespace), taken } = deps
  let isShared = false
  let isOfWrites = false
  let isAlone = false
  const asked: string[] = []
  const alone = (): void => {
    isAlone = true
  }
  /** `given`: what is sent. Of an object that carries no label of ours it is not known whether it says the same. */
  const ask = <T>(
    question: { readonly verb: string; readonly resource: GroupVersionResource; readonly name: string },
    given: unknown,
    how: Answered<T>,
    isCreation = false,
  ): Promise<T> => {
    const { verb, resource, name } = question
    const live = index.find(resource, nameOf(namespace.metadata), name)
    if (verb !== 'get') isOfWrites = true
    if (alike === undefined || (live === undefined) !== isCreation || taken?.has(takenKey(resource, name))) {
      alone()
      return how.ask()
    }
    const place = [verb, placeOf(resource, name), live?.unplaced?.digest ?? live?.digest, given]
    const { text, marks: sent } = texts.takeOut(JSON.stringify(place))
    const marks = [...new Set([...sent, ...(live?.unplaced?.marks ?? [])])].sort()
    const onShared = (answer: T): T => {
      // What an object says is known by its digest; what would be made of it is believed.
      if (verb !== 'get') isShared = true
      return how.here?.(answer, live) ?? answer
    }
    const own = { ask: how.ask, lengths: texts.lengthsOf(marks) }
    if (marks.length === 0) {
      const [said, keep] = [(answer: T) => digestOf(how.said(answer)), (answer: T) => answer]
      const key = digestOf(text)
      asked.push(key)
      return alike.of(key, { ...own, said, keep, share: (kept) => onShared(kept as T), texts: [] })
    }
    const out = (value: unknown): string => texts.takeOut(JSON.stringify(value)).text
    const key = digestOf([text, ...texts.shapesOf(marks)])
    asked.push(key)
    return alike.of(key, {
      ...own,
      texts: texts.own(),
      said: (answer) => digestOf(out(how.said(answer))),
      keep: out,
      share: (kept) => onShared(parseJsonText(texts.putIn(String(kept))) as T),
    })
  }
  const questions = (): Questions | undefined => (isAlone ? undefined : { asked, isOfWrites })
  return { ask, alone, isShared: () => isShared, questions }
}

/** Questions to the server about one namespace, and what was answered. */
function startRehearsal(deps: DryRunDeps) {
  const { client, namespace } = deps
  const changes = new Map<string, DryRunChange>()
  const seen = new Map<string, KubeObject | undefined>()
  const { ask, ...asked } = startAsking(deps)
  /** An answer about an object in another namespace, as one about this. */
  const here = <T extends KubeObject>(object: T, live: PopulatedObject | undefined): T => {
    const { name } = namespace.metadata
    if (object.metadata.namespace === undefined) return object
    const { uid = object.metadata.uid, revision = object.metadata.resourceVersion } = live ?? {}
    return { ...object, metadata: { ...object.metadata, namespace: name, uid, resourceVersion: revision } }
  }

  const look = async <T extends KubeObject>(
    resource: GroupVersionResource,
    { name }: Ref,
    options?: { readonly signal?: AbortSignal },
  ): Promise<T | undefined> => {
    const place = placeOf(resource, name)
    if (seen.has(place)) return seen.get(place) as T | undefined
    const ref = { namespace: nameOf(namespace.metadata), name }
    const { object } = await ask<{ readonly object?: KubeObject | undefined }>(
      { verb: 'get', resource, name },
      undefined,
      {
        ask: async () => ({ object: await findObject(client, resource, ref, options) }),
        said: ({ object: of }) => (of === undefined ? null : contentOf(of)),
        here: ({ object: of }, live) => ({ object: of && here(of, live) }),
      },
    )
    seen.set(place, object)
    return object as T | undefined
  }

  /** A write and what it would change. */
  const change = async (
    resource: GroupVersionResource,
    object: KubeObject,
    before: KubeObject | undefined,
    how: { readonly verb: 'apply' | 'force' | 'create'; readonly write: () => Promise<KubeObject> },
  ): Promise<KubeObject> => {
    const name = nameOf(object.metadata)
    const { namespace: _n, uid: _u, resourceVersion: _r, managedFields: _m, ...metadata } = object.metadata
    const { after } = await ask<DryRunChange>(
      { verb: how.verb, resource, name },
      { ...object, metadata },
      {
        ask: async () => ({ before, after: await how.write() }),
        said: (to) => (to.before === undefined ? null : differences(to.before, to.after)),
        here: (to, live) => ({ before: to.before, after: here(to.after, live) }),
      },
      how.verb === 'create',
    )
    changes.set(`${object.kind}/${name}`, { before, after })
    return after
  }

  return { changes, seen, ask, look, change, ...asked }
}

/** For one pass over one namespace. */
export function startDryRun(deps: DryRunDeps): DryRun {
  const { client, namespace } = deps
  const { changes, seen, ask, look, change, alone, isShared, questions } = startRehearsal(deps)
  return {
    find: (title) => changes.get(title),
    isShared,
    questions,
    client: {
      discovery: client.discovery,
      async get(resource, ref, options) {
        const found = await look(resource, ref, options)
        if (found !== undefined) return found as never
        alone()
        // Asked again for its answer.
        return client.get(resource, ref, options)
      },
      async apply(resource, object, options: ApplyOptions) {
        // One that must be absent is created, or refused.
        const isCreation = options.mustBeAbsent === true
        const before = isCreation ? undefined : await look(resource, { name: nameOf(object.metadata) }, options)
        const verb = isCreation ? 'create' : options.force === true ? 'force' : 'apply'
        const { mustBeAbsent: _, ...anyway } = options
        const write = async (): Promise<KubeObject> => {
          // On a server that can't be told what must be absent, to ask for that is a request of its own.
          if (!isCreation) return client.apply(resource, object, { ...options, dryRun: true })
          // If it is refused, the other request says why.
          const made = await client.apply(resource, object, { ...anyway, dryRun: true }).catch(() => undefined)
          // What is only rehearsed has no version.
          if (made !== undefined && made.metadata.resourceVersion === undefined) return made
          return client.apply(resource, object, { ...options, dryRun: true })
        }
        return (await change(resource, object, before, { verb, write })) as never
      },
      async update(resource, object, options) {
        const { kind, metadata } = object as KubeObject
        const before = seen.get(placeOf(resource, nameOf(metadata)))
        // It would be created, as the apply before this says.
        if (before === undefined) return object as never
        alone()
        const after = await client.update(resource, object, { ...options, dryRun: true })
        if (options?.dryRun !== true) changes.set(`${kind}/${metadata.name}`, { before, after })
        return after as never
      },
      async patch(resource, ref, patch, options) {
        // The server would judge it by the templates that are stored, and it is these that are planned.
        if (resource.group === '' && resource.resource === 'namespaces') return namespace as never
        const { metadata } = patch as { readonly metadata?: object }
        return (await ask(
          { verb: 'patch', resource, name: ref.name },
          { ...metadata, uid: undefined },
          {
            ask: () => client.patch(resource, ref, patch, { ...options, dryRun: true }) as Promise<KubeObject>,
            said: () => null,
          },
        )) as never
      },
      delete: (resource, ref, options) =>
        ask({ verb: 'delete', resource, name: ref.name }, options?.propagationPolicy, {
          ask: () => client.delete(resource, ref, { ...options, dryRun: true }),
          said: ({ kind = '' }) => kind,
        }) as never,
    },
  }
}
