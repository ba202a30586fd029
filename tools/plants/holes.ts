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
    'a list leaves out what a KMS plugin that is away can not decrypt',
    ['test/encryption/kms.test.ts'],
    'src/encryption/encrypted-storage.ts',
    'for (const entry of entries) opened.push(await this.#openEntry(entry))',
    'for (const entry of entries) await this.#openEntry(entry).then((e) => opened.push(e), () => 0)',
  ),
  plant(
    'a watch leaves out what a KMS plugin that is away can not decrypt',
    ['test/encryption/kms.test.ts'],
    'src/encryption/encrypted-storage.ts',
    'value: value && (await this.#openLearning(key, revision, value)),',
    'value: value && (await this.#openLearning(key, revision, value).catch(() => undefined)),',
  ),
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
  plant(
    'a media type named like what every object inherits leaves a client without an answer',
    ['src/http/negotiate.test.ts', 'test/attacks/inherited-names.test.ts'],
    'src/http/negotiate.ts',
    'const format = formatByMediaType.get(clause.mediaType)',
    'const format = (Object.fromEntries(formatByMediaType) as Record<string, Format>)[clause.mediaType]',
  ),
  plant(
    'a request that can not be answered is left open',
    ['src/http/node/listen.test.ts'],
    'src/http/node/listen.ts',
    '    onError(error)\n    cutOff()\n',
    '    onError(error)\n    void cutOff\n',
  ),
  plant(
    'a backup is written through a link that another user put there',
    ['src/backup'],
    'src/base/private-files.ts',
    '    await rm(path, { force: true })\n' +
      '    return await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)\n',
    "    return await open(path, 'w', 0o600)\n",
  ),
  plant(
    'an Accept header has as many media types as a client likes',
    ['src/http/negotiate.test.ts'],
    'src/http/negotiate.ts',
    "header.split(',', mostClauses)",
    "header.split(',')",
  ),
  plant(
    'methods of any length are remembered with the requests that have them',
    ['src/flowcontrol/priority-and-fairness.test.ts'],
    'src/flowcontrol/request-kinds.ts',
    'if (verb.length + path.length > maxKeyLength) return false',
    'if (path.length > maxKeyLength) return false',
  ),
  plant(
    'an error about a webhook quotes what another server says',
    ['src/client/webhook-client.test.ts'],
    'src/client/webhook-answer.ts',
    "? 'invalid JSON' :",
    '? text :',
  ),
  plant(
    'a watch of a month ends at once',
    ['src/base/clock.test.ts'],
    'src/base/clock.ts',
    'Math.min(left, longestTimerMs)',
    'left',
  ),
  plant(
    'names of any length are remembered as namespaces without roles',
    ['src/authz'],
    'src/authz/rbac-scope.ts',
    "if (namespace === '' || namespace.length > longestNamespace) return undefined",
    "if (namespace === '') return undefined",
  ),
  plant(
    'a template binds a Role of its own that is not as it says',
    ['test/attacks/escalation.test.ts'],
    'src/apis/templates/populate.ts',
    'if (role.isWhole && isMade) results.push',
    'if (isMade) results.push',
  ),
  plant(
    'a template binds a Role of its own that was not made',
    ['src/apis/templates/populate.test.ts'],
    'src/apis/templates/populate.ts',
    'if (role.isWhole && isMade) results.push',
    'if (role.isWhole) results.push',
  ),
  plant(
    'a template takes the place of what another one protects',
    ['src/apis/templates/displaced.test.ts', 'test/population/protection.test.ts'],
    'src/apis/templates/check-template.ts',
    'append(lacks, missingBypass(deps, a.user, template))',
    'void missingBypass',
  ),
  plant(
    'the status of a Service without a load balancer says where its traffic goes',
    ['test/contract/faults/statuses.test.ts'],
    'src/catalog/kinds/core/service.ts',
    'validate: validatePartsWith(checkService, checkServiceStatus)',
    'validate: validatePartsWith(checkService, () => undefined)',
  ),
  plant(
    'the status of a workload counts less than nothing',
    ['test/contract/faults/statuses.test.ts'],
    'src/catalog/kinds/apps/workload-status.ts',
    "    report.notNegative(status, 'status', ...counts, ...(collides ? ['collisionCount'] : []))\n",
    '',
  ),
]
