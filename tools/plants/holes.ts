/** Holes that this server once had, and has been mended of. */
import type { Edit, Plant } from './plants.ts'

const plant = (
  why: string,
  suites: readonly string[],
  file: string,
  find: string,
  replace: string,
  ...also: readonly Edit[]
): Plant => ({ why, suites, file, find, replace, ...(also.length > 0 ? { also } : {}) })

const templates = ['src/apis/templates', 'test/attacks/templates.test.ts', 'test/population/rights.test.ts']

export const holePlants: readonly Plant[] = [
  plant(
    'an author opens a template by an annotation, without the rights that it gives',
    templates,
    'src/apis/templates/author-rights.ts',
    'return value !== old.metadata.annotations?.[key] && value !== bounding',
    'return value === bounding && false',
  ),
  plant(
    'a namespace leaves a template that asks for permission without having it',
    templates,
    'src/apis/templates/admission.ts',
    "  checkUse(a, deps, selectTemplatesLeft(deps.matchers(), namespace, old), 'would no longer select')\n",
    '',
  ),
  plant(
    'the headers of an impersonation are read as Latin-1',
    ['src/authn', 'test/access/user-names.test.ts'],
    'src/base/header-bytes.ts',
    "return isAscii(value) ? value : textOfBytes(Buffer.from(value, 'latin1'))",
    'return value',
  ),
  plant(
    'a warning beyond Latin-1 leaves a client without an answer',
    ['src/http', 'test/contract/wire.test.ts'],
    'src/http/header-value.ts',
    "plain.test(text) ? text : Buffer.from(text.replace(/\\p{Cc}/gu, ' ')).toString('latin1')",
    'text',
  ),
  plant(
    'a creator does not see its own namespace while it initializes',
    ['src/apis/namespaces', 'test/namespaces/creators.test.ts'],
    'src/apis/namespaces/creator-rights.ts',
    'if (creator !== user.username) return noOpinion',
    'if (creator !== user.uid) return noOpinion',
  ),
  plant(
    'objects of a template that name themselves by other things than texts are a 500',
    ['test/population/bad-input.test.ts'],
    'src/apis/templates/check-template.ts',
    '    if (misshapen.length > 0) continue\n',
    '',
  ),
  plant(
    'a quantity in protobuf is stored as any text',
    ['test/generated/found.test.ts'],
    'src/catalog/protobuf/special-codec.ts',
    'return canonical(text)',
    'return text',
  ),
  plant(
    'a control plane that was stopped is never let go of',
    ['src/metrics'],
    'src/metrics/process-metrics.ts',
    'if (collections !== undefined) Object.assign(collections, { registers: [] })',
    'void collections',
  ),
]
