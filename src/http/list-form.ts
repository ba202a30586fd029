/**
 * How a list is written in one form: what stands before its items, each item, what stands behind. The items need not be
 * at hand together, so a list is written whole or in steps by the same code.
 */
import type { Chunks } from '../base/chunks.ts'
import { printYaml } from '../kube/print-yaml.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { listItemHead, metadataEnd, partialItemHead, storedRestOffset } from '../kube/stored-form.ts'
import type { StoredObject } from '../registry/registry.ts'
import type { Negotiated } from './negotiate.ts'

export interface ListForm {
  readonly open: string
  item(out: Chunks, stored: StoredObject, isFirst: boolean): void
  close(isEmpty: boolean): string
}

/** Text around items that are made as values. `key` is what the list calls them. */
export function valueForm(
  head: object,
  key: 'items' | 'rows',
  n: Negotiated,
  valueOf: (stored: StoredObject) => unknown,
): ListForm {
  if (n.format === 'yaml') {
    return {
      open: `${printYaml(head)}${key}:`,
      item: (out, stored, isFirst) => out.text(`${isFirst ? '\n' : ''}- ${printYaml(valueOf(stored), '  ')}`),
      close: (isEmpty) => (isEmpty ? ' []\n' : ''),
    }
  }
  if (!n.pretty) {
    return {
      open: `${JSON.stringify(head).slice(0, -1)},"${key}":[`,
      item: (out, stored, isFirst) => out.text(`${isFirst ? '' : ','}${JSON.stringify(valueOf(stored))}`),
      close: () => ']}\n',
    }
  }
  return {
    open: `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${key}": [`,
    item(out, stored, isFirst) {
      const lines = JSON.stringify(valueOf(stored), null, 2).replaceAll('\n', '\n    ')
      out.text(`${isFirst ? '' : ','}\n    ${lines}`)
    },
    close: (isEmpty) => (isEmpty ? ']\n}\n' : '\n  ]\n}\n'),
  }
}

/** Compact JSON of objects: their stored bytes, copied. */
export function objectForm(type: ResourceType, head: object): ListForm {
  return {
    open: `${JSON.stringify(head).slice(0, -1)},"items":[`,
    item(out, { revision, bytes }, isFirst) {
      out.text(isFirst ? listItemHead(type, revision) : `,${listItemHead(type, revision)}`)
      out.bytes(bytes.subarray(storedRestOffset))
    },
    close: () => ']}\n',
  }
}

/** Compact JSON of metadata: a part of the stored bytes, copied. For types that show what is stored. */
export function partialForm(head: object, itemVersion: string): ListForm {
  return {
    open: `${JSON.stringify(head).slice(0, -1)},"items":[`,
    item(out, { revision, bytes }, isFirst) {
      out.text(`${isFirst ? '' : ','}${partialItemHead(itemVersion, revision)}`)
      out.bytes(bytes.subarray(storedRestOffset, metadataEnd(bytes)))
      out.text('}')
    },
    close: () => ']}\n',
  }
}
