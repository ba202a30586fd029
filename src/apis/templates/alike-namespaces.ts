/**
 * What a pass over one namespace depends on, its place taken out: namespaces that are alike in it need no passes of
 * their own in a plan. Nothing is asked of the server for it.
 */
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { digestOf } from './digest.ts'
import { isGateShut } from './gate.ts'
import type { PlaceTexts } from './place-texts.ts'
import { type PopulateDeps, type PopulateRequest, settledIn } from './populate.ts'
import { type Rendered, render } from './render.ts'
import { planMetadata } from './settle-metadata.ts'
import { objectsOf } from './template-objects.ts'

export interface Situation {
  /** Equal in namespaces that are alike. */
  readonly digest: string
  /** See `Asking`. */
  readonly lengths: readonly number[]
}

interface Place {
  readonly texts: PlaceTexts
  /** See `TakenNames`. */
  readonly taken: ReadonlySet<string>
}

export function situationOf(
  { index, clones }: Pick<PopulateDeps, 'index' | 'clones'>,
  request: PopulateRequest,
  { texts, taken }: Place,
): Situation {
  const { namespace, templates } = request
  const { objects, skipped } = render(templates, namespace, clones, request.conditions)
  const { changes, unsettable } = planMetadata(settledIn(request))
  const wanted = [
    isGateShut(namespace),
    objects.map(wantedObject),
    skipped.map(({ template, kept, ...why }) => [nameOf(template.metadata), why, kept && wantedObject(kept)]),
    changes,
    unsettable.map(({ template, ...why }) => [nameOf(template.metadata), why]),
  ]
  const { text, marks: ofWanted } = texts.takeOut(JSON.stringify(wanted))
  const there = thereIn(namespace, index)
  const marks = [...new Set([...ofWanted, ...there.marks])].sort()
  return {
    digest: digestOf([text, there.digests, [...taken].sort(), ...texts.shapesOf(marks)]),
    lengths: texts.lengthsOf(marks),
  }
}

/** An object but for its namespace, and which of its template's it is: that says how it is kept. */
function wantedObject({ template, held, object }: Rendered): readonly unknown[] {
  const { namespace: _, ...metadata } = object.metadata
  return [nameOf(template.metadata), objectsOf(template).indexOf(held), { ...object, metadata }]
}

interface There {
  readonly digests: readonly string[]
  readonly marks: ReadonlySet<number>
}

/** Not in the order in which the watches told of it: another in each namespace. */
function thereIn({ metadata }: Namespace, index: PopulateDeps['index']): There {
  const digests: string[] = []
  const marks = new Set<number>()
  for (const live of index.livesIn(nameOf(metadata))) {
    const { group, resource } = live.resource
    digests.push(`${group}/${resource} ${live.template} ${live.isMarked} ${live.unplaced?.digest ?? live.digest}`)
    for (const mark of live.unplaced?.marks ?? []) marks.add(mark)
  }
  return { digests: digests.sort(), marks }
}
