/** The ways in which a varied object is sent: what a client may do with an object, in each form of body. */
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { type Body, type Encode, inJson, inProtobuf, inYaml, yamlText } from './encodings.ts'
import { jsonPatch, mergePatch } from './patches.ts'
import type { Subject } from './subjects.ts'
import { type Variation, varied } from './variations.ts'

export interface GeneratedRequest extends Body {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

export interface Way {
  /** `patched, JSON patch` */
  readonly name: string
  /** Needs the object as it is when it is valid. */
  readonly changes: boolean
  isFor(subject: Subject): boolean
  /** undefined = this way can't say it. */
  request(subject: Subject, variation: Variation): GeneratedRequest | undefined
}

const nameOf = ({ object }: Subject): string => String((object['metadata'] as JsonObject | undefined)?.['name'] ?? '')
const pathOfOne = (subject: Subject): string => `${subject.path}/${nameOf(subject)}`
const isKept = ({ isKept }: Subject): boolean => isKept

function created(name: string, encode: Encode): Way {
  return {
    name,
    changes: false,
    isFor: (subject) => encode(subject, subject.object) !== undefined,
    request(subject, variation) {
      const body = encode(subject, varied(subject.object, variation))
      return body && { ...body, method: 'POST', path: subject.path, query: {} }
    },
  }
}

function replaced(name: string, encode: Encode): Way {
  return {
    name,
    changes: true,
    isFor: (subject) => isKept(subject) && encode(subject, subject.object) !== undefined,
    request(subject, variation) {
      const body = encode(subject, varied(subject.object, variation))
      return body && { ...body, method: 'PUT', path: pathOfOne(subject), query: {} }
    },
  }
}

function patched(
  name: string,
  type: string,
  patch: (object: JsonObject, variation: Variation) => string,
  query: Readonly<Record<string, string>> = {},
): Way {
  return {
    name,
    changes: true,
    isFor: (subject) => isKept(subject) && (type !== strategic || !subject.isCustom),
    request: (subject, variation) => ({
      type,
      body: patch(subject.object, variation),
      method: 'PATCH',
      path: pathOfOne(subject),
      query,
    }),
  }
}

/** The same on the sub-resource: of what is below `status`, and of metadata, which it has in common. */
function onStatus(way: Way): Way {
  return {
    ...way,
    name: `status ${way.name}`,
    isFor: (subject) => subject.hasStatus && way.isFor(subject),
    request(subject, variation) {
      const [first] = variation.path
      const request = first === 'status' || first === 'metadata' ? way.request(subject, variation) : undefined
      return request && { ...request, path: `${request.path}/status` }
    },
  }
}

const strategic = 'application/strategic-merge-patch+json'
const protobuf = inProtobuf(new ProtobufCodec())

const put = replaced('replaced, JSON', inJson)
const merge = patched('patched, merge patch', 'application/merge-patch+json', (object, variation) =>
  JSON.stringify(mergePatch(object, variation, 'whole')),
)
const apply = patched(
  'applied, YAML',
  'application/apply-patch+yaml',
  (object, variation) => yamlText(varied(object, variation)),
  { fieldManager: 'generated', force: 'true' },
)

export const ways: readonly Way[] = [
  created('created, JSON', inJson),
  created('created, YAML', inYaml),
  created('created, protobuf', protobuf),
  put,
  replaced('replaced, YAML', inYaml),
  replaced('replaced, protobuf', protobuf),
  patched('patched, JSON patch', 'application/json-patch+json', (object, variation) =>
    JSON.stringify(jsonPatch(object, variation)),
  ),
  merge,
  patched('patched, strategic merge patch', strategic, (object, variation) =>
    JSON.stringify(mergePatch(object, variation, 'one item')),
  ),
  apply,
  onStatus(put),
  onStatus(merge),
  onStatus(apply),
]
