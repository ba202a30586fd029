/**
 * Makes `src/catalog/generated/` (or the folder named as its argument) from the installed `@kubernetes/client-node`:
 * resources, verbs, sub-resources, type fields and descriptions of every GA group version. What that client cannot tell
 * is in `src/catalog/facts/`.
 *
 * Only exported models and exported API classes are read: the package's folders also hold left-overs of older releases.
 * Everything it does not understand stops it: a guess here would be a wrong API there.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { GeneratedResource } from '../src/catalog/generated-catalog.ts'

interface Attribute {
  readonly name: string
  readonly baseName: string
  readonly type: string
  readonly format: string
}
interface Model {
  readonly attributeTypeMap: readonly Attribute[]
}
interface Operation {
  readonly path: string
  readonly method: string
  readonly body: string | undefined
  readonly answer: string
  readonly watchable: boolean
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const outDir = resolve(process.argv[2] ?? join(root, 'src/catalog/generated'))
const clientDir = join(dirname(fileURLToPath(import.meta.resolve('@kubernetes/client-node'))), 'gen')
const gaVersion = /^v[1-9][0-9]*$/

const load = async (path: string): Promise<Record<string, unknown>> =>
  (await import(pathToFileURL(join(clientDir, path)).href)) as Record<string, unknown>

const fail = (why: string): never => {
  throw new Error(`generate-catalog: ${why}`)
}

/* Operations: the client has one method per path and HTTP method; its text names path, verb, body and answer. */

const first = (text: string, pattern: RegExp): string | undefined => pattern.exec(text)?.[1]

async function readOperations(): Promise<Operation[]> {
  const exported = [...readFileSync(join(clientDir, 'index.js'), 'utf8').matchAll(/\bObject(\w+Api) as \w+/g)]
  if (exported.length < 40) fail(`found only ${exported.length} exported API classes`)
  const operations: Operation[] = []
  for (const [, api] of exported) {
    const module = await load(`apis/${api}.js`)
    const requests = (module[`${api}RequestFactory`] as { prototype: object } | undefined)?.prototype
    const answers = (module[`${api}ResponseProcessor`] as { prototype: object } | undefined)?.prototype
    if (!requests || !answers) return fail(`no request factory in ${api}`)
    for (const name of Object.getOwnPropertyNames(requests)) {
      if (name === 'constructor') continue
      const request = String(Reflect.get(requests, name))
      const path = first(request, /localVarPath = '([^']+)'/) ?? fail(`no path in ${api}.${name}`)
      const method = first(request, /HttpMethod\.([A-Z]+)/) ?? fail(`no HTTP method in ${api}.${name}`)
      const answer = first(String(Reflect.get(answers, `${name}WithHttpInfo`)), /contentType\), "([^"]+)"/)
      operations.push({
        path,
        method,
        body: first(request, /serialize\(body, "([^"]+)"/),
        answer: answer ?? 'void',
        watchable: request.includes('setQueryParam("watch"'),
      })
    }
  }
  return operations
}

/* Resources */

const pathShape =
  /^\/(?:api|apis\/(?<group>[^/{]+))\/(?<version>[^/{]+)\/(?<namespaced>namespaces\/\{namespace\}\/)?(?<resource>[a-z]+)(?:\/\{name\}(?:\/(?<sub>[a-z]+))?)?$/

const verbsOfMethod: Readonly<Record<string, readonly [item: string | undefined, collection: string | undefined]>> = {
  GET: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', undefined],
  PATCH: ['patch', undefined],
  DELETE: ['delete', 'deletecollection'],
  HEAD: [undefined, undefined],
  OPTIONS: [undefined, undefined],
}

interface Draft {
  readonly group: string
  readonly version: string
  readonly resource: string
  namespaced: boolean
  /** Model name */
  model: string | undefined
  readonly verbs: Set<string>
  readonly subresources: Map<string, { readonly verbs: Set<string>; model: string | undefined }>
}

function draftResources(operations: readonly Operation[], models: ReadonlySet<string>): Draft[] {
  const drafts = new Map<string, Draft>()
  for (const o of operations) {
    const part = pathShape.exec(o.path)?.groups
    if (!part || !part.version || !part.resource || !gaVersion.test(part.version)) continue
    const key = `${part.group ?? ''}/${part.version}/${part.resource}`
    const draft = drafts.get(key) ?? {
      group: part.group ?? '',
      version: part.version,
      resource: part.resource,
      namespaced: false,
      model: undefined,
      verbs: new Set<string>(),
      subresources: new Map<string, { readonly verbs: Set<string>; model: string | undefined }>(),
    }
    drafts.set(key, draft)
    if (part.namespaced) draft.namespaced = true
    const isItem = o.path.includes('{name}')
    const verb = verbsOfMethod[o.method]?.[isItem ? 0 : 1]
    const model = o.body && models.has(o.body) && o.body !== 'V1DeleteOptions' ? o.body : undefined
    const answered = o.method === 'GET' && models.has(o.answer) ? o.answer : undefined
    if (part.sub) {
      const sub = draft.subresources.get(part.sub) ?? { verbs: new Set<string>(), model: undefined }
      draft.subresources.set(part.sub, sub)
      if (verb) sub.verbs.add(verb)
      sub.model ??= model ?? answered
    } else {
      if (verb) draft.verbs.add(verb)
      if (verb === 'list' && o.watchable) draft.verbs.add('watch')
      draft.model ??= model ?? (isItem ? answered : undefined)
    }
  }
  return [...drafts.values()]
}

/* Type names: the client flattens `io.k8s.api.core.v1.PodSpec` to `V1PodSpec`; the package is found by reachability. */

const metaTypes = new Set(
  (
    'APIGroup APIGroupList APIResource APIResourceList APIVersions Condition DeleteOptions FieldSelectorRequirement ' +
    'GroupVersionForDiscovery LabelSelector LabelSelectorRequirement ListMeta ManagedFieldsEntry ObjectMeta ' +
    'OwnerReference Preconditions ServerAddressByClientCIDR ShardInfo Status StatusCause StatusDetails'
  )
    .split(' ')
    .map((name) => `V1${name}`),
)
const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Sub-resource bodies that live in another group than their parents, and types only other groups refer to. */
const homeGroups: Readonly<Record<string, readonly string[]>> = {
  '': ['V1TopologySelectorTerm'],
  policy: ['V1Eviction'],
  autoscaling: ['V1Scale'],
  'authentication.k8s.io': ['AuthenticationV1TokenRequest'],
}

function packageOf(group: string, version: string): string {
  if (group === '') return `io.k8s.api.core.${version}`
  if (group === 'apiextensions.k8s.io') return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}`
  if (group === 'apiregistration.k8s.io') return `io.k8s.kube-aggregator.pkg.apis.apiregistration.${version}`
  return `io.k8s.api.${group.split('.')[0]}.${version}`
}

const referenceIn = (type: string): string | undefined => first(type, /\b((?:[A-Z]\w*)?V[0-9]\w+)\b/)
const prefix = /^(?:[A-Z][a-z]+)?V(\d+)(?=[A-Z])/

function nameTypes(drafts: readonly Draft[], models: ReadonlyMap<string, Model>): Map<string, string> {
  const names = new Map<string, string>()
  const walk = (model: string, group: string): void => {
    if (names.has(model)) return
    const attributes = models.get(model)?.attributeTypeMap ?? fail(`unknown model ${model}`)
    const version = prefix.exec(model)?.[1] ?? fail(`no version in the name of model ${model}`)
    const home = metaTypes.has(model) ? metaPackage : packageOf(group, `v${version}`)
    names.set(model, `${home}.${model.replace(prefix, '')}`)
    for (const a of attributes) {
      const target = referenceIn(a.type)
      if (target && target !== 'V1MicroTime') walk(target, group)
    }
  }
  for (const meta of metaTypes) walk(meta, '')
  const groups = [...new Set(drafts.map((d) => d.group))].sort()
  for (const group of groups) for (const model of homeGroups[group] ?? []) walk(model, group)
  for (const group of groups) {
    for (const d of drafts) {
      if (d.group !== group) continue
      const model = d.model ?? fail(`no kind for ${d.group}/${d.version} ${d.resource}`)
      walk(model, group)
      if (models.has(`${model}List`)) walk(`${model}List`, group)
      for (const s of d.subresources.values()) if (s.model) walk(s.model, group)
    }
  }
  const seen = new Set<string>()
  for (const name of names.values()) {
    if (seen.has(name)) fail(`two models are called ${name}`)
    seen.add(name)
  }
  return names
}

/* Type expressions: see `src/catalog/generated-catalog.ts` for the notation. */

function expressionOf(a: Attribute, numberOf: (model: string) => number): string {
  const convert = (type: string): string => {
    const list = first(type, /^Array<(.+)>$/)
    if (list) return `[${convert(list)}`
    const map = first(type, /^\{ \[key: string\]: (.+); \}$/)
    if (map) return `{${convert(map)}`
    switch (type) {
      case 'string':
        return a.format === 'byte' ? 'y' : a.format === '' ? 's' : fail(`string format ${a.format}`)
      case 'number':
        return (
          ({ int32: 'i', int64: 'l', double: 'd' } as Record<string, string>)[a.format] ?? fail(`number ${a.format}`)
        )
      case 'boolean':
        return 'b'
      case 'any':
        return '*'
      case 'Date':
        return 't'
      case 'V1MicroTime':
        return 'u'
      case 'IntOrString':
        return 'x'
      default:
        return `@${numberOf(type)}`
    }
  }
  return convert(a.type)
}

/* Descriptions: the doc comments of the declaration files. */

const unescape = (text: string): string => text.replace(/\\(['"])/g, '$1').trim()

function readDeclaration(model: string): {
  about: string
  fields: Map<string, string>
  required: Set<string>
} {
  const text = readFileSync(join(clientDir, `models/${model}.d.ts`), 'utf8')
  const body = text.slice(text.indexOf('export declare class'))
  const about = first(text, /\/\*\*\n\*\s?((?:(?!\*\/)[^])*?)\n\*\/\nexport declare class/) ?? ''
  const fields = new Map<string, string>()
  const required = new Set<string>()
  const member = /(?:\/\*\*\n\s*\*\s?((?:(?!\*\/)[^])*?)\s*\*\/\s*)?'([^']+)'(\??): /g
  for (const [, comment, name, optional] of body.slice(0, body.indexOf('static readonly')).matchAll(member)) {
    if (!name) continue
    if (comment) fields.set(name, unescape(comment.replace(/\n\s*\* ?/g, '\n')))
    if (!optional) required.add(name)
  }
  return { about: unescape(about.replace(/\n\* ?/g, '\n')), fields, required }
}

/* All together */

const models = new Map(Object.entries(await load('models/all.js')) as [string, Model][])
const drafts = draftResources(await readOperations(), new Set(models.keys()))
drafts.sort((a, b) => (`${a.group}/${a.version}/${a.resource}` < `${b.group}/${b.version}/${b.resource}` ? -1 : 1))
const names = nameTypes(drafts, models)
const ordered = [...names].sort(([, a], [, b]) => (a < b ? -1 : 1))
const numbers = new Map(ordered.map(([model], index) => [model, index]))
const numberOf = (model: string): number => numbers.get(model) ?? fail(`model ${model} was not reached`)

const types: [string, string][] = []
const descriptions: Record<string, Record<string, string>> = {}
for (const [model, name] of ordered) {
  const { about, fields, required } = readDeclaration(model)
  const texts: Record<string, string> = about ? { '': about } : {}
  const members: string[] = []
  for (const a of models.get(model)?.attributeTypeMap ?? []) {
    const text = fields.get(a.name)
    if (text) texts[a.baseName] = text
    members.push(`${a.baseName}${required.has(a.name) ? '!' : ''}:${expressionOf(a, numberOf)}`)
  }
  types.push([name, members.join(' ')])
  descriptions[name] = texts
}

const resources: GeneratedResource[] = drafts.map((d) => {
  const model = d.model ?? fail(`no kind for ${d.resource}`)
  return {
    group: d.group,
    version: d.version,
    resource: d.resource,
    kind: model.replace(prefix, ''),
    type: numberOf(model),
    namespaced: d.namespaced,
    verbs: [...d.verbs].sort().join(' '),
    subresources: [...d.subresources]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, s]) => ({
        name,
        verbs: [...s.verbs].sort().join(' '),
        ...(s.model ? { type: numberOf(s.model) } : {}),
      })),
  }
})
if (resources.length < 60 || types.length < 400) fail(`only ${resources.length} resources and ${types.length} types`)

mkdirSync(outDir, { recursive: true })
const write = (file: string, value: unknown): number => {
  const text = JSON.stringify(value)
  writeFileSync(join(outDir, file), text)
  return text.length
}
const sizes = [write('catalog.json', { types, resources }), write('descriptions.json', descriptions)]
console.log(`catalogue: ${resources.length} resources, ${types.length} types, ${sizes.join(' + ')} characters`)
