/** Faults of authorization, which the matrix must find. */
import type { Edit, Plant } from './plants.ts'

const suites = ['test/matrix/matrix.test.ts']
const plant = (why: string, file: string, find: string, replace: string, ...also: readonly Edit[]): Plant => ({
  why,
  file,
  find,
  replace,
  suites,
  ...(also.length > 0 ? { also } : {}),
})

const authorizeStage = 'src/http/stages/authorize.ts'
const binding = 'src/authz/binding-index.ts'

export const authorizationPlants: readonly Plant[] = [
  plant(
    'a cluster-scoped type under a namespace is served, authorized in that namespace (CVE-2019-11247)',
    'src/http/resolve-target.ts',
    "if (!type.namespaced) return !underNamespace && (namespace === '' || isNamespaces(type))",
    'if (!type.namespaced) return true',
    {
      file: authorizeStage,
      find: "  if (typeof resolution !== 'object') {\n",
      replace: '  if (info.isResource) {\n',
    },
  ),
  plant(
    'resourceNames are ignored',
    'src/authz/rbac-rules.ts',
    "(rule.names.size === 0 || (request.name !== '' && rule.names.has(request.name)))",
    'rule.names.size >= 0',
  ),
  plant(
    'a sub-resource is authorized as its parent',
    'src/authz/rbac-request.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
    'resource: `${a.resource}/${subresource}`',
    'resource: a.resource',
  ),
  plant(
    'groups are compared without regard to case',
    binding,
    "list: 'groups', key: s.name,",
    "list: 'groups', key: s.name.toLowerCase(),",
    { file: binding, find: 'this.#groups.get(group)?.find', replace: 'this.#groups.get(group.toLowerCase())?.find' },
  ),
  plant(
    'a group has what is bound to a user of its name',
    binding,
    'const found = this.#groups.get(group)?.find(accept)',
    'const found = (this.#groups.get(group) ?? this.#users.get(group))?.find(accept)',
  ),
  plant(
    'a legacy watch is authorized as a list',
    authorizeStage,
    '    name: name || info.name,\n',
    "    name: name || info.name,\n    ...(info.legacy ? { verb: 'list' } : {}),\n",
  ),
  plant(
    'a RoleBinding allows what asks for all namespaces',
    'src/authz/rbac-scope.ts',
    "if (namespace === '' || namespace.length",
    'if (namespace.length',
  ),
  plant(
    'impersonated groups are not checked',
    'src/authn/impersonation.ts',
    "  for (const name of groups) yield { ...core, resource: 'groups', name }\n",
    '',
  ),
  plant(
    'a service account of another namespace counts as the one of the binding’s',
    binding,
    'const home = s.namespace || namespace\n',
    "const home = namespace || s.namespace || ''\n",
  ),
  plant(
    'a list of own namespaces shows all of them',
    'src/app/authorization.ts',
    '...(view ? { view } : {}) }',
    '...(view ? {} : {}) }',
  ),
  plant(
    'a Table shows namespaces that others wait for',
    'src/http/verbs/read.ts',
    'visibility(target, context))',
    "n.view === 'table' ? {} : visibility(target, context))",
  ),
  plant('a watch in a namespace is one of all namespaces', 'src/http/verbs/watch.ts', 'target.namespace', "''"),
  plant(
    'POST of finalize is authorized as a create',
    'src/http/request-info.ts',
    "    verb = 'update'\n",
    "    verb = 'create'\n",
  ),
  plant(
    'content of a namespace that initializes can be written',
    'src/apis/initializers/admission.ts',
    'if (mayInitialize(authorizer, a.user, a.namespace)) return\n',
    "if (a.namespace !== '') return\n",
  ),
  plant(
    'deletecollection is authorized as delete',
    authorizeStage,
    '    verb,\n    group: type.group,',
    "    verb: verb === 'deletecollection' ? 'delete' : verb,\n    group: type.group,",
  ),
  plant(
    'an anonymous caller learns which paths are no routes',
    authorizeStage,
    "if (context.resolution === 'no such path' && isAuthenticated(context))",
    "if (context.resolution === 'no such path' && isAuthenticated !== undefined)",
  ),
]
