#!/usr/bin/env node
/**
 * Who may import whom, as data; from it, the lint configuration.
 *
 *   node tools/layers.mjs           writes .cache/oxlintrc.json, which .oxlintrc.json extends; fails if a rule is blind
 *   node tools/layers.mjs --print   prints the configuration instead
 *
 * A rule that sees no file is green for the wrong reason. So every folder of src/ must be named here, every name must
 * have files, and `tools/check.mjs` compares the number of files that the linter saw with the number found here.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const configFile = join('.cache', 'oxlintrc.json')

/**
 * What each folder of src/ sees besides itself: whole folders, or single files of one (its seam).
 * `app` wires everything, so it sees everything below; so do the entry points directly in src/.
 */
const layers = {
  base: [],
  kube: ['base'],
  cel: ['base', 'kube'],
  catalog: ['base', 'kube', 'cel'],
  slabs: ['base'],
  storage: ['base'],
  encryption: ['base', 'kube', 'storage', 'feature/feature.ts', 'http/health.ts'],
  watch: ['base', 'kube', 'catalog', 'storage', 'slabs'],
  registry: ['base', 'kube', 'cel', 'catalog', 'storage', 'watch', 'admission/admission.ts'],
  http: [
    ...['base', 'kube', 'catalog', 'storage', 'watch', 'registry'],
    ...['admission/admission.ts', 'authn/authn.ts'],
    ...['authz/authz.ts', 'authz/explain-refusal.ts', 'authz/forbidden.ts', 'authz/rbac-request.ts'],
    ...['audit/audit.ts', 'audit/recorded-body.ts', 'flowcontrol/flowcontrol.ts'],
  ],
  authn: ['base', 'kube', 'cel/identity-expressions.ts'],
  authz: ['base', 'kube', 'client/remote.ts'],
  audit: ['base', 'kube'],
  flowcontrol: ['base', 'kube'],
  admission: ['base', 'kube', 'storage/storage.ts'],
  datadir: ['base'],
  pki: [
    ...['base', 'authn/service-account-key.ts'],
    ...['storage/storage.ts', 'storage/storage-choice.ts', 'storage/damaged-value.ts'],
  ],
  backup: [
    ...['base', 'kube', 'datadir/data-dir.ts', 'pki/pki.ts', 'storage/storage.ts', 'storage/storage-choice.ts'],
    ...[
      'storage/open-storage.ts',
      'storage/served-storage.ts',
      'storage/unfinished-copy.ts',
      'storage/damaged-value.ts',
      'storage/format-level.ts',
    ],
    ...['encryption/encryption.ts', 'encryption/server-storage.ts'],
  ],
  client: ['base', 'kube'],
  controller: ['base', 'kube', 'client'],
  feature: [
    ...['base', 'kube', 'client', 'catalog/catalog.ts', 'registry/registry.ts', 'catalog/strategy.ts'],
    ...['admission/admission.ts', 'authz/authz.ts', 'cel/evaluator.ts', 'controller', 'storage/storage.ts'],
    ...['http/request-info.ts', 'watch/damaged-objects.ts', 'watch/type-cache.ts'],
    ...['storage/storage-choice.ts', 'storage/format-level.ts'],
  ],
  apis: [
    ...['base', 'kube', 'cel', 'client', 'catalog/catalog.ts', 'registry/registry.ts', 'catalog/strategy.ts'],
    ...[
      'admission/admission.ts',
      'admission/admission-configuration.ts',
      'admission/object-of.ts',
      'authn/front-proxy.ts',
    ],
    ...['authn/tokens.ts', 'authz/authz.ts'],
    'authz/explain-refusal.ts',
    ...['controller/controller.ts', 'controller/source.ts', 'controller/watches.ts', 'feature'],
    'flowcontrol/flowcontrol.ts',
  ],
  metrics: ['base', 'kube/user.ts', 'http/api.ts', 'http/version.ts', 'feature/feature.ts'],
  initializer: ['base', 'kube', 'client', 'controller', 'apis/namespaces/types.ts'],
  app: 'everything',
  populate: [
    ...[
      'base',
      'kube',
      'client',
      'controller',
      'http',
      'catalog/catalog.ts',
      'metrics/metrics.ts',
      'apis/templates/kind.ts',
    ],
    ...[
      'apis/events/recorder.ts',
      'apis/expiry/types.ts',
      'apis/templates/caretakers.ts',
      'apis/templates/parameters.ts',
      'apis/templates/protection.ts',
      'apis/expiry/cluster.ts',
      'apis/namespaces/types.ts',
      'apis/rbac/bootstrap-rules.ts',
    ],
    ...['authz/authz.ts', 'authz/rbac-authorizer.ts', 'authz/rbac-source.ts'],
    ...[
      'admission-review',
      'caretakers',
      'config-map-records',
      'feature-level',
      'kinds',
      'plan',
      'population-config',
      'reconcile',
      'template-metrics',
      'types',
      'webhook',
    ].map((file) => `apis/templates/${file}.ts`),
  ],
  workers: [
    ...['base', 'app', 'audit', 'datadir/data-dir.ts', 'metrics/metrics.ts', 'pki/pki.ts'],
    ...['storage/storage.ts', 'storage/compactor.ts', 'storage/relay/relay-holder.ts'],
    ...['storage/store-report.ts', 'encryption/server-storage.ts', 'encryption/store-health.ts'],
  ],
  console: [
    ...['base', 'kube', 'client', 'apis/namespaces/explain.ts', 'apis/namespaces/release.ts'],
    ...['apis/namespaces/types.ts', 'apis/rbac/why-denied.ts', 'apis/templates/types.ts'],
    ...['apis/initializers/configurations.ts', 'apis/initializers/types.ts'],
    ...['apis/expiry/bounds.ts', 'apis/expiry/end.ts', 'apis/expiry/types.ts'],
    ...[
      'clones',
      'match',
      'namespace-metadata',
      'parameters',
      'plan',
      'population-config',
      'render',
      'revisions',
      'rollback',
      'rollout-limits',
      'told-failures',
    ].map((file) => `apis/templates/${file}.ts`),
    'authz/explain-refusal.ts',
  ],
  doctor: [
    ...['base', 'kube', 'client', 'backup/backup.ts', 'datadir/data-dir.ts', 'pki/pki.ts', 'populate/populate.ts'],
    ...['apis/templates/kind.ts', 'apis/templates/types.ts'],
  ],
  cli: [
    ...['base', 'kube', 'client', 'app', 'apis/namespaces/explain.ts', 'apis/namespaces/release.ts'],
    'apis/namespaces/await-settled.ts',
    ...['apis/templates/describe.ts', 'apis/templates/plan.ts', 'apis/templates/rollback.ts'],
    'apis/templates/await-rollout.ts',
    ...['apis/rbac/why-denied.ts', 'authz/explain-refusal.ts'],
    ...['storage/storage-choice.ts', 'storage/served-storage.ts'],
    ...['encryption/encryption.ts', 'encryption/server-storage.ts'],
    ...['authn/identity-config.ts', 'backup/backup.ts', 'datadir/data-dir.ts', 'pki/pki.ts'],
    ...['console/console.ts', 'doctor/doctor.ts', 'populate/populate.ts', 'workers/workers.ts'],
  ],
  testing: ['base', 'kube', 'client', 'app', 'http/fetch.ts'],
}

/**
 * Rooms with a front: the one file of each that other folders see, those that see everything too. Tests and tools may
 * look inside.
 */
const fronts = {
  backup: 'backup/backup.ts',
  console: 'console/console.ts',
  datadir: 'datadir/data-dir.ts',
  doctor: 'doctor/doctor.ts',
  flowcontrol: 'flowcontrol/flowcontrol.ts',
  metrics: 'metrics/metrics.ts',
  pki: 'pki/pki.ts',
  populate: 'populate/populate.ts',
  workers: 'workers/workers.ts',
}

/** They start what `app` wires: it sees none of them. */
const aboveApp = ['cli', 'console', 'doctor', 'populate', 'testing', 'workers']

/** Only storage names its engines, other folders know the contract; a primary holds the store that a relay leads to. */
const engines = ['memory', 'sqlite', 'etcd', 'relay']
const engineSeams = { workers: ['storage/relay/relay-holder.ts'] }

/** Packages that one folder wraps for all others. */
const wrapped = {
  re2js: 'kube',
  '@kubernetes/client-node': 'client',
  commander: 'cli',
  ws: 'console',
}

/** Linted beside src/, with light rules. */
const otherFolders = ['test', 'tools', 'bench', 'examples', 'bin']

const rules = {
  'typescript/no-floating-promises': 'error',
  'typescript/no-misused-promises': 'error',
  'typescript/await-thenable': 'error',
  'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  'typescript/no-explicit-any': 'error',
  'typescript/no-non-null-assertion': 'error',
  'typescript/no-unsafe-argument': 'error',
  'typescript/no-unsafe-assignment': 'error',
  'typescript/no-unsafe-call': 'error',
  'typescript/no-unsafe-member-access': 'error',
  'typescript/no-unsafe-return': 'error',
  'typescript/only-throw-error': 'error',
  'typescript/no-deprecated': 'error',
  'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
  'import/no-cycle': ['error', { ignoreTypes: false }],
  'import/no-default-export': 'error',
  'preserve-caught-error': 'error',
  'no-console': 'error',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
  eqeqeq: 'error',
  'borough/bounded-arguments': 'error',
  'v8/young-functions': 'error',
  // Of the linter's own choice of 'correctness' rules, those that call sound code wrong: a list copied because the
  // loop changes it, a default for what a client may have sent as null, a method compared with undefined, …
  'unicorn/no-useless-spread': 'off',
  'unicorn/no-new-array': 'off',
  'no-control-regex': 'off',
  'typescript/unbound-method': 'off',
  'typescript/no-misused-spread': 'off',
  'typescript/no-base-to-string': 'off',
  'typescript/restrict-template-expressions': 'off',
  'typescript/require-array-sort-compare': 'off',
  'typescript/no-unnecessary-type-assertion': 'off',
  'typescript/no-useless-default-assignment': 'off',
  'typescript/no-duplicate-type-constituents': 'off',
  'typescript/no-redundant-type-constituents': 'off',
}

/** Tests and tools read JSON and speak on the console. */
const lightRules = {
  'typescript/no-unsafe-argument': 'off',
  'typescript/no-unsafe-assignment': 'off',
  'typescript/no-unsafe-call': 'off',
  'typescript/no-unsafe-member-access': 'off',
  'typescript/no-unsafe-return': 'off',
  'no-unsafe-optional-chaining': 'off',
  'import/no-default-export': 'off',
  'no-console': 'off',
  'borough/bounded-arguments': 'off',
  'v8/young-functions': 'off',
}

/** The files of `other` that `layer` sees. */
function seamsFor(layer, other) {
  if (other === layer) return 'everything'
  const sees = layers[layer]
  if (sees === 'everything') {
    if (aboveApp.includes(other)) return []
    return fronts[other] === undefined ? 'everything' : [fronts[other]]
  }
  return sees.includes(other) ? 'everything' : sees.filter((seen) => seen.startsWith(`${other}/`))
}

/** @param {string} layer @returns {{ group: string[], message: string }[]} */
function forbidden(layer) {
  const patterns = [{ group: ['**/test/**', '**/*.test.ts'], message: 'src/ does not import from tests' }]
  for (const other of Object.keys(layers)) {
    const seams = seamsFor(layer, other)
    if (seams === 'everything') continue
    const message =
      seams.length > 0
        ? `${layer} sees of ${other} only ${seams.map((seam) => basename(seam)).join(', ')}`
        : `${layer} does not see ${other}`
    patterns.push({ group: [`**/${other}/**`, ...seams.map((seam) => `!**/${seam}`)], message })
  }
  if (layer !== 'storage') {
    patterns.push({
      group: [
        ...engines.map((engine) => `**/storage/${engine}/**`),
        ...(engineSeams[layer] ?? []).map((seam) => `!**/${seam}`),
      ],
      message: 'only storage names its engines',
    })
  }
  return patterns
}

function importRule(layer, patterns) {
  const paths = Object.entries(wrapped)
    .filter(([, owner]) => owner !== layer)
    .map(([name, owner]) => ({ name, message: `src/${owner} wraps this package for all others` }))
  return { 'no-restricted-imports': ['error', { paths, patterns }] }
}

function configuration() {
  return {
    plugins: ['typescript', 'unicorn', 'oxc', 'import'],
    jsPlugins: ['bounded-arguments', 'young-functions'].map((rule) => join(root, 'tools', 'lint', `${rule}.mjs`)),
    categories: { correctness: 'error' },
    ignorePatterns: ['dist', 'src/catalog/generated', '.cache', '.borough'],
    rules,
    overrides: [
      ...Object.keys(layers).map((layer) => ({
        files: [`src/${layer}/**/*.{ts,tsx}`],
        rules: importRule(layer, forbidden(layer)),
      })),
      // A browser's requests are few.
      { files: ['src/console/page/**'], rules: { 'v8/young-functions': 'off' } },
      // A test is a leaf: nothing can come to depend on what it imports.
      { files: ['src/**/*.test.ts'], rules: { ...lightRules, 'no-restricted-imports': 'off' } },
      { files: [...otherFolders.map((folder) => `${folder}/**`), '*.config.ts'], rules: lightRules },
      // Outside of the type check, so the linter guesses at types there.
      { files: ['**/*.mjs'], rules: { 'typescript/await-thenable': 'off', 'typescript/no-misused-promises': 'off' } },
    ],
  }
}

/** Source files by folder: those of src/ by layer, and the other folders. */
export function countSources() {
  const counts = new Map()
  const walk = (folder, count) => {
    for (const item of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, item.name)
      if (item.isDirectory()) {
        if (path !== join(root, 'src', 'catalog', 'generated')) walk(path, count)
      } else if (/\.(tsx?|mjs)$/.test(item.name)) count(relative(root, path).split(sep))
    }
  }
  for (const top of ['src', ...otherFolders]) {
    try {
      walk(join(root, top), (parts) => {
        const folder = top === 'src' && parts.length > 2 ? `src/${parts[1]}` : top
        counts.set(folder, (counts.get(folder) ?? 0) + 1)
      })
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
  }
  return counts
}

/** What makes the rules blind, one line each. */
function blindSpots() {
  const found = []
  const counts = countSources()
  for (const folder of counts.keys()) {
    const [top, layer] = folder.split('/')
    if (top === 'src' && layer !== undefined && !(layer in layers)) found.push(`${folder}: no rule names this folder`)
  }
  for (const front of Object.values(fronts)) {
    if (!exists(join('src', front))) found.push(`src/${front}: the rules call it a front, but it is not there`)
  }
  for (const [layer, sees] of Object.entries(layers)) {
    if (!counts.has(`src/${layer}`)) found.push(`src/${layer}: the rules name it, but it has no files`)
    for (const seam of sees === 'everything' ? [] : sees.filter((seen) => seen.includes('/'))) {
      if (!exists(join('src', seam))) found.push(`src/${seam}: the rules name it, but it is not there`)
      const front = fronts[seam.split('/')[0]]
      if (front !== undefined && seam !== front) found.push(`src/${seam}: ${layer} looks past src/${front}`)
    }
    for (const room of Object.keys(fronts)) {
      if (sees.includes(room)) found.push(`${layer}: sees all of ${room}, which has a front`)
    }
    // '../client/x.ts' must mean one thing: the linter sees the text of an import, not where it leads.
    for (const inner of foldersBelow(join(root, 'src', layer))) {
      if (inner in layers) found.push(`src/${layer}: a folder inside is called ${inner}, like a layer`)
    }
  }
  return found
}

const exists = (path) => existsSync(join(root, path))

function foldersBelow(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((item) => item.isDirectory())
      .map((item) => item.name)
  } catch {
    return []
  }
}

function main(args) {
  const text = `${JSON.stringify(configuration(), undefined, 2)}\n`
  if (args.includes('--print')) {
    process.stdout.write(text)
    return 0
  }
  const problems = blindSpots()
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) return 1
  mkdirSync(join(root, dirname(configFile)), { recursive: true })
  writeFileSync(join(root, configFile), text)
  console.log([...countSources()].map(([folder, count]) => `${folder} ${count}`).join(', '))
  return 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2))
