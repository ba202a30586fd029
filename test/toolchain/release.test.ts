/** `npm run release`, in clones of what is committed: tried, refused, and done as far as it goes without publishing. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { addressesOf, webAddressOf } from '../../tools/repository.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'borough-release-test-'))
const clone = join(work, 'clone')
const out = join(work, 'out')
const next = '9.8.7'
const people = ['-c', 'user.name=A Maintainer', '-c', 'user.email=maintainer@example.com']

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function run(program: string, args: readonly string[], cwd: string = clone): Ran {
  const env = { ...process.env, GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' }
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...env, GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' },
  })
  return { status, stdout, stderr }
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = run('git', [...people, ...args])
  expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' })
  return stdout.trim()
}

const release = (...args: readonly string[]): Ran =>
  run(process.execPath, [join(clone, 'tools', 'release.mjs'), ...args, '--out', out, '--without', 'image,package'])
const reachable = 'that other machines can reach'
const sayWhere = 'git remote add origin URL, or say --repository URL'
const read = (file: string): string => readFileSync(join(clone, file), 'utf8')
const before = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }

describe.skipIf(!existsSync(join(root, '.git')))('a release (skipped where there is no repository)', () => {
  beforeAll(() => {
    run('git', ['clone', '--quiet', '--shared', root, clone], work)
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    // As they are here, not as they were committed.
    const ours = ['tools/release.mjs', 'tools/repository.ts', 'tools/deploy-manifests.ts', 'package.json', '.gitignore']
    for (const file of ours) copyFileSync(join(root, file), join(clone, file))
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', 'tools: as they are')
  })
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  const refused: readonly (readonly [name: string, args: readonly string[], line: string])[] = [
    ['no version', [], 'say a version, like 0.2.0'],
    ['what is no version', ['next'], 'say a version, like 0.2.0'],
    ['a version below the present one', ['0.0.9'], `0.0.9 is below ${before.version}`],
    ['a clone of a folder', [next], `the repository of the remote origin is no address ${reachable}: ${sayWhere}`],
    [
      'a folder as the repository',
      [next, '--repository', '/srv/borough'],
      `the repository --repository is no address ${reachable}`,
    ],
  ]
  test.each(refused)('refuses %s in one line', (_, args, line) => {
    expect(release(...args)).toEqual({ status: 1, stdout: '', stderr: `release: ${line}\n` })
    expect(existsSync(out)).toBe(false)
  })

  test('refuses a changelog without an entry, even to try it', () => {
    const changelog = read('CHANGELOG.md')
    writeFileSync(join(clone, 'CHANGELOG.md'), changelog.replace('## Unreleased\n', '## Unreleased\n\n## 0.0.1\n'))
    const stderr = 'release: CHANGELOG.md has nothing under "## Unreleased"\n'
    expect(release(next, '--dry-run')).toEqual({ status: 1, stdout: '', stderr })
    writeFileSync(join(clone, 'CHANGELOG.md'), changelog)
  })

  test('refuses a clone that came from nowhere', () => {
    git('remote', 'remove', 'origin')
    expect(release(next)).toEqual({ status: 1, stdout: '', stderr: `release: where is the repository? ${sayWhere}\n` })
  })

  test('tried, it makes everything, says what a real one lacks, and leaves the clone as it was', () => {
    const head = git('rev-parse', 'HEAD')
    const { status, stdout, stderr } = release(next, '--dry-run')
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `release: a real one would be refused: where is the repository? ${sayWhere}\n`,
    })
    expect(stdout.trim().split('\n')).toEqual([
      'NOTES.md',
      'SHA256SUMS',
      `borough-chart-${next}.tar.gz`,
      `install-${next}.yaml`,
    ])
    expect({
      head: git('rev-parse', 'HEAD'),
      tags: git('tag', '--list', 'v*'),
      status: git('status', '--porcelain'),
    }).toEqual({ head, tags: '', status: '' })
    expect(git('worktree', 'list').split('\n').length).toBe(1)
  })

  test('done, it writes the version in every place, tags it with its notes, and sums up what it made', () => {
    const readme = read('README.md')
    writeFileSync(join(clone, 'README.md'), `${readme}\n`)
    git('remote', 'add', 'origin', 'git@git.example.com:team/borough.git')
    expect(release(next).stderr).toBe('release: not everything is committed\n')
    writeFileSync(join(clone, 'README.md'), readme)
    const { status, stdout, stderr } = release(next)
    const known = 'release: the repository is git+https://git.example.com/team/borough.git (of the remote origin)\n'
    expect({ status, stderr }).toEqual({ status: 0, stderr: known })
    expect(stdout).toContain(`npm publish borough-borough-${next}.tgz`)

    expect(git('log', '-1', '--format=%s')).toBe(`release: ${next}`)
    expect(git('rev-parse', `v${next}^{commit}`)).toBe(git('rev-parse', 'HEAD'))
    expect(git('tag', '--list', '--format=%(contents)', `v${next}`)).toBe(
      readFileSync(join(out, 'NOTES.md'), 'utf8').trim(),
    )
    const lock = JSON.parse(read('package-lock.json')) as {
      version: string
      packages: Record<string, { version: string }>
    }
    const chart = parse(read('deploy/helm/Chart.yaml')) as { version: string; appVersion: string }
    expect([lock.version, lock.packages['']?.version, chart.version, chart.appVersion]).toEqual([
      next,
      next,
      next,
      next,
    ])
    expect(read('deploy/install.yaml')).toContain(`image: borough:${next}`)
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${next} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'))
    const stale = ['grep', '--name-only', '--fixed-strings', `borough:${before.version}`, '--', 'docs/*.md', 'deploy']
    expect(run('git', stale).stdout).toBe('')
  })

  test('and in every place where the repository is', () => {
    const web = 'https://git.example.com/team/borough'
    expect(JSON.parse(read('package.json'))).toMatchObject({
      repository: { type: 'git', url: `git+${web}.git` },
      bugs: { url: `${web}/issues` },
      homepage: `${web}#readme`,
    })
    expect(read('package.json')).toBe(`${JSON.stringify(JSON.parse(read('package.json')), undefined, 2)}\n`)
    expect(parse(read('deploy/helm/Chart.yaml'))).toMatchObject({ home: `${web}#readme`, sources: [web] })
    expect(read('docs/operations.md')).toContain(`npm install git+${web}.git`)
  })

  test('its sums are those of its files', () => {
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')
    expect(sums.map((line) => line.slice(66)).sort()).toEqual(
      readdirSync(out)
        .filter((file) => file !== 'SHA256SUMS')
        .sort(),
    )
    for (const line of sums) {
      const sum = createHash('sha256')
        .update(readFileSync(join(out, line.slice(66))))
        .digest('hex')
      expect(line.slice(0, 64)).toBe(sum)
    }
  })

  test('the same version is refused a second time', () => {
    writeFileSync(join(clone, 'CHANGELOG.md'), `# Changes\n\n## Unreleased\n\n- Something.\n`)
    expect(release(next).stderr).toBe(`release: v${next} is tagged already\n`)
  })
})

const https = 'https://git.example/team/borough'
const written: readonly (readonly [address: string, web: string | undefined])[] = [
  [https, https],
  [`${https}.git`, https],
  [`${https}/`, https],
  [`git+${https}.git`, https],
  ['https://me:secret@git.example/team/borough.git', https],
  ['https://git.example:8443/team/borough.git', 'https://git.example:8443/team/borough'],
  ['http://git.example/team/borough', https],
  ['git://git.example/team/borough.git', https],
  ['ssh://git@git.example:2222/team/borough.git', https],
  ['git@git.example:team/borough.git', https],
  ['git.example:/team/borough', https],
  ['/srv/git/borough.git', undefined],
  ['../borough', undefined],
  ['C:\\borough', undefined],
  ['file:///srv/git/borough.git', undefined],
  ['https://git.example', undefined],
  ['https://git.example/a b', undefined],
  ['borough', undefined],
]
test.each(written)('the address %s', (address, web) => {
  const found = addressesOf(address)
  expect(found && webAddressOf(found)).toBe(web)
  expect(found?.homepage).toBe(web && `${web}#readme`)
})
