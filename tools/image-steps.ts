#!/usr/bin/env node
/**
 * Does the steps of `deploy/Dockerfile` in a clean folder, where there is no docker, and runs what comes out: a server,
 * and `borough populate` beside it, as the user of the image.
 *
 *   node tools/image-steps.ts [--keep]
 *
 * Each stage is a folder that stands for `/`. The context is what git knows, less .dockerignore. Node is the one that
 * runs this. Knows the instructions that are in the file; another one is an error.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('..', import.meta.url))
const lineMs = 60_000

interface Stage {
  readonly root: string
  workdir: string
  readonly env: Record<string, string>
  user?: number
  entrypoint?: string[]
}

const inStage = ({ root }: Stage, path: string): string => join(root, path)

function instructions(): [string, string][] {
  const text = readFileSync(join(source, 'deploy', 'Dockerfile'), 'utf8').replace(/\\\n/g, ' ')
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()])
}

function context(): string[] {
  const ignored = readFileSync(join(source, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const known = execFileSync('git', ['ls-files', '-z'], { cwd: source, encoding: 'utf8' }).split('\0').filter(Boolean)
  return known.filter((path) => !ignored.some((part) => path === part || path.startsWith(`${part}/`)))
}

function copy(words: readonly string[], stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const from = words[0]?.startsWith('--from=') ? stages.get(words[0].slice('--from='.length)) : undefined
  const paths = words.filter((word) => !word.startsWith('--'))
  const target = paths.pop() ?? '.'
  const into = target.startsWith('/') ? inStage(stage, target) : join(inStage(stage, stage.workdir), target)
  for (const path of paths) {
    if (from !== undefined) {
      const isFolder = !target.endsWith('/')
      cpSync(inStage(from, path), isFolder ? into : join(into, path.split('/').at(-1) ?? ''), { recursive: true })
      continue
    }
    const files = path === '.' ? context() : [path]
    for (const file of files) {
      mkdirSync(dirname(join(into, file)), { recursive: true })
      cpSync(join(source, file), join(into, file))
    }
  }
}

function build(folder: string): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const [word, rest] of instructions()) {
    process.stdout.write(`${word} ${rest}\n`)
    if (word === 'FROM') {
      const name = / AS (\S+)/.exec(rest)?.[1] ?? `stage${stages.size}`
      stage = { root: join(folder, name), workdir: '/', env: {} }
      mkdirSync(stage.root)
      stages.set(name, stage)
      continue
    }
    if (stage === undefined) throw new Error(`${word} stands before FROM`)
    if (word === 'WORKDIR') {
      stage.workdir = rest
      mkdirSync(inStage(stage, rest), { recursive: true })
    } else if (word === 'COPY') copy(rest.split(/\s+/), stage, stages)
    else if (word === 'ENV') Object.assign(stage.env, Object.fromEntries([rest.split('=', 2)]))
    else if (word === 'USER') stage.user = Number(rest.split(':')[0])
    else if (word === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest) as string[]
    else if (word === 'RUN') {
      const ran = spawnSync('/bin/sh', ['-c', rest], {
        cwd: inStage(stage, stage.workdir),
        // As it is here: how npm reaches its registry may be said there.
        env: { ...process.env, ...envOf(stage) },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      if (ran.status !== 0) throw new Error(`RUN ${rest} ended with ${ran.status}`)
    } else throw new Error(`${word} is not known here`)
  }
  if (stage === undefined) throw new Error('no stage')
  return stage
}

const envOf = ({ env }: Stage): NodeJS.ProcessEnv => ({
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  HOME: process.env['HOME'],
  ...env,
})

/** A container of it. Root can be another user; others run it as themselves. */
function run(stage: Stage, args: readonly string[]): ChildProcess {
  const [command = '', ...first] = stage.entrypoint ?? []
  const own = first.map((arg) => (arg.startsWith('/') ? inStage(stage, arg) : arg))
  const isRoot = process.getuid?.() === 0
  return spawn(command, [...own, ...args], {
    cwd: inStage(stage, stage.workdir),
    env: { ...envOf(stage), HOME: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(isRoot && stage.user !== undefined ? { uid: stage.user, gid: stage.user } : {}),
  })
}

/** Its first line. @throws Error if it ends or says nothing for a minute */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const late = setTimeout(() => reject(new Error(`it says nothing; so far: ${text}`)), lineMs)
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('\n')) return
      clearTimeout(late)
      resolve(text.split('\n')[0] ?? '')
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${text}`)))
  })
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const code = await gone
  if (code !== 0) throw new Error(`stopped, it ended with ${code}`)
}

async function tryOut(image: Stage, folder: string): Promise<void> {
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o777 })
  chmodSync(data, 0o777)
  const plain = ['--no-population', '--feature-gates', 'NamespaceInitializers=false']
  const server = run(image, ['up', '--data-dir', join(data, 'store'), '--listen', '127.0.0.1:0', ...plain])
  process.stdout.write(`up:       ${await firstLine(server)}\n`)
  const kubeconfig = join(data, 'store', 'admin.kubeconfig')
  if (!existsSync(kubeconfig)) throw new Error('no kubeconfig was written')
  const populate = run(image, ['populate', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'])
  process.stdout.write(`populate: ${await firstLine(populate)}\n`)
  await ended(populate)
  await ended(server)
}

const folder = mkdtempSync(join(tmpdir(), 'borough-image-'))
chmodSync(folder, 0o755)
try {
  const image = build(folder)
  const size = execFileSync('du', ['-sm', image.root], { encoding: 'utf8' }).split('\t')[0]
  process.stdout.write(`the image adds ${size} MB to node\n`)
  await tryOut(image, folder)
} finally {
  if (process.argv.includes('--keep')) process.stdout.write(`kept: ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
}
