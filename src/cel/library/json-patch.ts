/**
 * `jsonpatch.escapeKey('a/b')`: a name as a step of a JSON Patch path.
 * @see k8s.io/apiserver/pkg/cel/library/jsonpatch.go v0.36
 */
import { fn, type Library } from '../functions.ts'

export const jsonPatchLibrary: Library = [
  fn('string_jsonpatch_escapeKey_string', 'jsonpatch.escapeKey', ['string', 'string'], (key: string) =>
    key.replaceAll('~', '~0').replaceAll('/', '~1'),
  ),
]
