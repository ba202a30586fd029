/**
 * Makes a release of what is committed: the version everywhere, the changelog, a commit, a tag, and what is published.
 *
 *   npm run release -- 0.2.0              into release/0.2.0/
 *   npm run release -- 0.2.0 --dry-run    the same, without the tag, and the branch stays where it is
 *   npm run release -- 0.2.0 --out DIR --without image,package
 *   npm run release -- 0.2.0 --repository https://git.example/team/borough
 *
 * package.json, the chart and the image say where the repository is: what package.json says already, else the remote
 * `origin`; `--repository` comes before both. All of it happens in a checkout of its own. Nothing is pushed or
 * published: the commands for that are printed.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { addressesOf } from './repository.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const unreleased = '## Unreleased'
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
/** In the documents, until there is one. */
const exampleRepository = 'git+https://git.example/borough.git'
const sayWhere = 'git remote add origin URL, or say --repository URL'

function main(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      out: { type: 'string' },
      without: { type: 'string', default: '' },
      repository: { type: 'string' },
    },
  })
  const [version = ''] = positionals
  const place = findRepository(values.repository)
  const refusals = refusalsOf(version, place)
  const isDry = values['dry-run']
  if (refusals.length > 0 && (!isDry || refusals.some(({ always }) => always))) {
    process.stderr.write(`release: ${(isDry ? refusals.find(({ always }) => always) : refusals[0]).why}\n`)
    return 1
  }
  const out = resolve(values.out ?? join(root, 'release', version))
  const { commit, notes } = inCheckout((folder) => {
    const written = writeVersion(folder, version, place.addresses)
    make(folder, out, version, written, values.without.split(','))
    return { commit: written.commit, notes: join(out, 'NOTES.md') }
  })
  if (!isDry) {
    git('merge', '--ff-only', '--quiet', commit)
    git('tag', '--annotate', '--cleanup=verbatim', '--file', notes, `v${version}`, commit)
  }
  if (place.addresses !== undefined) {
    process.stderr.write(`release: the repository is ${place.addresses.repository.url} (${place.from})\n`)
  }
  for (const { why } of refusals) process.stderr.write(`release: a real one would be refused: ${why}\n`)
  process.stdout.write(`${readdirSync(out).sort().join('\n')}\n${isDry ? '' : nextSteps(version, out)}`)
  return 0
}

/** What is known of it, by whom; or why nothing is. */
function findRepository(asked) {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [address, from] =
    asked !== undefined
      ? [asked, '--repository']
      : repository !== undefined
        ? [repository.url, 'of package.json']
        : [git('config', '--default', '', '--get', 'remote.origin.url'), 'of the remote origin']
  if (address === '') return { why: `where is the repository? ${sayWhere}` }
  const addresses = addressesOf(address)
  if (addresses !== undefined) return { addresses, from }
  const isPrivate = asked === undefined ? `: ${sayWhere}` : ''
  // It may hold a password.
  return {
    why: `the repository ${from} is no address that other machines can reach${isPrivate}`,
    isWrong: asked !== undefined,
  }
}

/** `always`: there is nothing to try either. */
function refusalsOf(version, place) {
  const { version: present } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const found = []
  const refuse = (why, always = false) => found.push({ why, always })
  if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version)) return [{ why: 'say a version, like 0.2.0', always: true }]
  if (compare(version, present) < 0) refuse(`${version} is below ${present}`, true)
  if (notesIn(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) === '') {
    refuse(`CHANGELOG.md has nothing under "${unreleased}"`, true)
  }
  if (place.addresses === undefined) refuse(place.why, place.isWrong)
  if (git('tag', '--list', `v${version}`) !== '') refuse(`v${version} is tagged already`)
  if (git('status', '--porcelain', '--untracked-files=no') !== '') refuse('not everything is committed')
  return found
}

const numbers = (version) => version.split('-')[0].split('.').map(Number)

function compare(a, b) {
  const [left, right] = [numbers(a), numbers(b)]
  const at = left.findIndex((n, i) => n !== right[i])
  return at < 0 ? 0 : left[at] - right[at]
}

/** What the changelog says of the next release. */
function notesIn(changelog) {
  const [, after = ''] = changelog.split(`${unreleased}\n`)
  return after.split(/^## /m)[0].trim()
}

function inCheckout(work) {
  const folder = join(mkdtempSync(join(tmpdir(), 'borough-release-')), 'checkout')
  git('worktree', 'add', '--quiet', '--detach', folder)
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    return work(folder)
  } finally {
    git('worktree', 'remove', '--force', folder)
    rmSync(dirname(folder), { recursive: true, force: true })
  }
}

/** package.json says it, and package-lock.json, the manifests, the chart and the documents repeat it. */
function writeVersion(folder, version, addresses) {
  const { version: before } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  change(join(folder, 'package.json'), (text) => {
    // Beside the licence, where readers look for them.
    const said = Object.entries(JSON.parse(text)).flatMap(([key, value]) => {
      if (key in (addresses ?? {})) return []
      return key === 'license' ? [[key, value], ...Object.entries(addresses ?? {})] : [[key, value]]
    })
    return `${JSON.stringify(Object.fromEntries([...said, ['version', version]]), undefined, 2)}\n`
  })
  change(join(folder, 'package-lock.json'), (text) => {
    const lock = JSON.parse(text)
    lock.version = version
    lock.packages[''].version = version
    return `${JSON.stringify(lock, undefined, 2)}\n`
  })
  for (const name of readdirSync(join(folder, 'docs')).filter((file) => file.endsWith('.md'))) {
    change(join(folder, 'docs', name), (text) =>
      text
        .replaceAll(`borough:${before}`, `borough:${version}`)
        .replaceAll(exampleRepository, addresses?.repository.url ?? exampleRepository),
    )
  }
  const seconds = Number(git('log', '-1', '--format=%ct'))
  const today = new Date(seconds * 1000).toISOString().slice(0, 10)
  const changelog = join(folder, 'CHANGELOG.md')
  const notes = notesIn(readFileSync(changelog, 'utf8'))
  change(changelog, (text) => text.replace(`${unreleased}\n`, `## ${version} (${today})\n`))
  const inFolder = (program, ...args) => execFileSync(program, args, { cwd: folder, encoding: 'utf8' }).trim()
  for (const tool of ['generate-catalog.ts', 'deploy-manifests.ts']) inFolder(process.execPath, join('tools', tool))
  inFolder('git', 'commit', '--quiet', '--no-verify', '--all', '--allow-empty', '--message', `release: ${version}`)
  return { commit: inFolder('git', 'rev-parse', 'HEAD'), seconds, notes }
}

function change(file, edit) {
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
}

function make(folder, out, version, { seconds, notes }, without) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const path = `${join(folder, 'node_modules', '.bin')}:${process.env.PATH}`
  const env = { ...process.env, PATH: path, SOURCE_DATE_EPOCH: String(seconds) }
  const run = (program, ...args) => execFileSync(program, args, { cwd: folder, env, stdio: ['ignore', 2, 2] })
  if (!without.includes('package')) run('npm', 'pack', '--pack-destination', out)
  if (!without.includes('image')) {
    run(process.execPath, join('tools', 'build.mjs'))
    run(process.execPath, join('tools', 'image', 'build.ts'), '--out', join(folder, 'image'))
    copyFileSync(join(folder, 'image', `borough-${version}.tar`), join(out, `borough-${version}.oci.tar`))
    copyFileSync(join(folder, 'image', 'sbom.spdx.json'), join(out, 'sbom.spdx.json'))
  }
  const chart = join(out, `borough-chart-${version}.tar`)
  const same = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  run('tar', '-cf', chart, ...same, '--transform', 's,^helm,borough,', '-C', join(folder, 'deploy'), 'helm')
  run('gzip', '--no-name', '-9', chart)
  copyFileSync(join(folder, 'deploy', 'install.yaml'), join(out, `install-${version}.yaml`))
  writeFileSync(join(out, 'NOTES.md'), `Borough ${version}\n\n${notes}\n`)
  const sums = readdirSync(out)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, file)))
          .digest('hex')}  ${file}\n`,
    )
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
}

const nextSteps = (version, out) => `
Published is nothing yet. To do so, from ${out}:
  git push --follow-tags
  npm publish borough-borough-${version}.tgz
  skopeo copy oci-archive:borough-${version}.oci.tar docker://REGISTRY/borough:${version}
  helm push borough-chart-${version}.tar.gz oci://REGISTRY/charts
`

if (!existsSync(join(root, '.git'))) {
  process.stderr.write('release: this is no clone of the repository\n')
  process.exitCode = 1
} else {
  process.exitCode = main(process.argv.slice(2))
}
