/**
 * Long lists, made in slices while they are sent: the loop is free between two slices, what is not yet sent does not
 * exist, and a reader that goes away ends the work. The items are versions, which never change: however long it takes,
 * the list is of one revision.
 */
import { Chunks } from '../base/chunks.ts'
import type { Slice } from '../base/turns.ts'
import type { StoredObject } from '../registry/registry.ts'
import type { AnswerStream } from './api.ts'
import type { ListForm } from './list-form.ts'

class GeneratedAnswer implements AnswerStream {
  readonly isAnswer = true
  readonly #chunks: AsyncGenerator<Uint8Array>
  readonly #slice: Slice

  constructor(chunks: AsyncGenerator<Uint8Array>, slice: Slice) {
    this.#chunks = chunks
    this.#slice = slice
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => {
        this.#slice.goOn()
        return this.#chunks.next()
      },
      return: () => this.#chunks.return(undefined),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return(undefined)
  }
}

export function listStream(form: ListForm, items: readonly StoredObject[], slice: Slice): AnswerStream {
  return new GeneratedAnswer(chunksOf(form, items, slice), slice)
}

async function* chunksOf(form: ListForm, items: readonly StoredObject[], slice: Slice): AsyncGenerator<Uint8Array> {
  const out = new Chunks()
  out.text(form.open)
  for (const [i, item] of items.entries()) {
    form.item(out, item, i === 0)
    if (out.isFull) yield out.take()
    const pause = slice.pause()
    if (pause) await pause
  }
  out.text(form.close(items.length === 0))
  yield out.take()
}

/** All at once, for a list that is short. */
export function wholeList(form: ListForm, items: readonly StoredObject[]): Uint8Array {
  const out = new Chunks()
  out.text(form.open)
  for (const [i, item] of items.entries()) form.item(out, item, i === 0)
  out.text(form.close(items.length === 0))
  return out.take()
}

/** Items in a form that says before them how long they are together. */
export interface SizedForm {
  open(itemsBytes: number): Uint8Array
  item(stored: StoredObject): Uint8Array
  readonly close: Uint8Array
}

/** Of what is encoded to find its size, as much is kept until it is sent; the rest is encoded again. */
export const keptBytes: number = 8 * 1024 * 1024

/** What fails to be encoded does so before anything is sent. */
export async function sizedListStream(
  form: SizedForm,
  items: readonly StoredObject[],
  slice: Slice,
): Promise<AnswerStream> {
  const kept: Uint8Array[] = []
  let sizeBytes = 0
  for (const item of items) {
    const encoded = form.item(item)
    sizeBytes += encoded.length
    if (sizeBytes <= keptBytes) kept.push(encoded)
    const pause = slice.pause()
    if (pause) await pause
  }
  return new GeneratedAnswer(sizedChunks(form, items, { kept, sizeBytes }, slice), slice)
}

async function* sizedChunks(
  form: SizedForm,
  items: readonly StoredObject[],
  { kept, sizeBytes }: { readonly kept: Uint8Array[]; readonly sizeBytes: number },
  slice: Slice,
): AsyncGenerator<Uint8Array> {
  const out = new Chunks()
  out.bytes(form.open(sizeBytes))
  for (const [i, item] of items.entries()) {
    out.bytes(kept[i] ?? form.item(item))
    if (out.isFull) yield out.take()
    const pause = slice.pause()
    if (pause) await pause
  }
  out.bytes(form.close)
  yield out.take()
}
