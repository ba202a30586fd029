/**
 * Faults that upstream's security advisories on the API server are about, as far as this server has the part that was
 * wrong. `docs/security.md` lists the others, each with the reason why there is none here.
 * @see https://kubernetes.io/docs/reference/issues-security/official-cve-feed
 */
import type { Plant } from './plants.ts'

const plant = (
  advisory: string,
  why: string,
  suites: readonly string[],
  file: string,
  find: string,
  replace: string,
): Plant => ({ why, suites, file, find, replace, advisory })

const secretReferences = 'src/apis/serviceaccounts/secret-references.ts'
const serviceAccounts = ['test/upstream/service-accounts.test.ts']

export const advisoryPlants: readonly Plant[] = [
  plant(
    'CVE-2015-5305',
    'a name leads out of its place in the store',
    ['src/kube', 'src/apis/rbac'],
    'src/kube/names.ts',
    "  const errors = ['/', '%'].filter(",
    "  const errors = ['%'].filter(",
  ),
  plant(
    'CVE-2019-11253',
    'aliases of a YAML body grow without bound',
    ['src/kube', 'test/contract/hostile-input.test.ts'],
    'src/kube/yaml-body.ts',
    '    if (this.#values + target.values > this.#maxValues) throw new YamlSyntaxError(excessiveAliasing)\n' +
      '    return this.#count(cloneJson(target.value), target.values, target.characters)',
    '    return this.#count(cloneJson(target.value), 0, 0)',
  ),
  plant(
    'CVE-2019-11254',
    'the depth of a YAML body has no bound',
    ['src/kube', 'test/contract/hostile-input.test.ts'],
    'src/kube/yaml-document.ts',
    'if (parser.stack.length > maxYamlDepth + 2)',
    'if (parser.stack.length > 1e6 * maxYamlDepth)',
  ),
  plant(
    'CVE-2019-1002100',
    'copies of copies in a JSON patch grow without bound',
    ['src/kube/patch'],
    'src/kube/patch/json-patch.ts',
    '    if (this.#copiedBytes > maxCopiedBytes) {',
    '    if (this.#copiedBytes > 1e6 * maxCopiedBytes) {',
  ),
  plant(
    'CVE-2020-8552',
    'names that a client makes up become labels of metrics',
    ['src/metrics', 'test/contract/wire.test.ts'],
    'src/metrics/request-durations.ts',
    'const known = info.isResource && code !== 404 && code !== 403',
    'const known = info.isResource',
  ),
  plant(
    'CVE-2021-25735',
    'validating webhooks are shown the new object as the old one',
    ['src/apis/webhooks', 'test/admission/webhooks.test.ts'],
    'src/apis/webhooks/shown-object.ts',
    'Promise.all([show(a.object), show(a.oldObject)])',
    'Promise.all([show(a.object), show(a.oldObject && a.object)])',
  ),
  plant(
    'CVE-2021-25737',
    'Endpoints lead to loopback or link-local addresses of nodes, EndpointSlices to link-local ones',
    ['test/contract/faults/services.test.ts'],
    'src/catalog/kinds/addresses.ts',
    'for (const [isIn, why] of notForEndpoints) if (isIn(value, family)) report.invalid(field, value, why)',
    'void notForEndpoints',
  ),
  plant(
    'CVE-2021-25740',
    'role edit writes Endpoints, and so leads Services to other namespaces',
    ['src/apis/rbac', 'test/access/default-roles.test.ts'],
    'src/apis/rbac/bootstrap-policy.ts',
    "'configmaps events persistentvolumeclaims replicationcontrollers",
    "'configmaps endpoints events persistentvolumeclaims replicationcontrollers",
  ),
  plant(
    'CVE-2022-3162',
    'the token of a list leads to objects of another kind',
    ['src/registry', 'test/contract/api-operations.test.ts'],
    'src/registry/continue-token.ts',
    "  if (!staysBelow(start)) throw refuse(start.replaceAll('\\0', ''))\n",
    '',
  ),
  plant(
    'CVE-2023-2728',
    'ephemeral containers use Secrets that their account does not lend',
    serviceAccounts,
    'src/apis/serviceaccounts/admission.ts',
    "(subresource === '' ? operation === 'CREATE' : subresource === 'ephemeralcontainers' && operation === 'UPDATE'),",
    "subresource === '' && operation === 'CREATE',",
  ),
  plant(
    'CVE-2024-3177',
    'containers use by envFrom Secrets that their account does not lend',
    serviceAccounts,
    secretReferences,
    '        if (secretRef?.name) yield { secret: secretRef.name, place: `${roles[role]} ${name} with envFrom` }\n',
    '        void secretRef\n',
  ),
  plant(
    'CVE-2023-44487',
    'a peer cancels as many requests of a connection as it likes',
    ['test/attacks/floods.test.ts'],
    'src/http/node/connection.ts',
    "if (++this.#resets > this.overload.limits.http2.resets) this.#calm('http2_resets')",
    "if (++this.#resets > 1e6 * this.overload.limits.http2.resets) this.#calm('http2_resets')",
  ),
  plant(
    'CVE-2024-7598',
    'the NetworkPolicies of a namespace go before its pods',
    ['src/apis/namespaces', 'test/namespaces/deletion.test.ts'],
    'src/apis/namespaces/reconcile.ts',
    "  { name: 'pods', holds: isPods },\n  { name: 'the rest', holds: (r) => !isRights(r) },\n",
    "  { name: 'the rest', holds: (r) => !isRights(r) && !isPods(r) },\n  { name: 'pods', holds: isPods },\n",
  ),
]
