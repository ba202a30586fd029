/** What `borough completion` prints, read by the shells themselves, and `kubectl borough`, completed by kubectl. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { hasTerminals, Terminal } from '../support/terminal.ts'
import { describeEachKubectl } from './kubectl.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'borough-completion-'))
const bin = join(folder, 'bin')
const kubeconfig = join(folder, 'kubeconfig')
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}`, KUBECONFIG: kubeconfig, HOME: folder }
let plane: TestControlPlane

beforeAll(async () => {
  mkdirSync(bin)
  const main = join(root, 'src', 'cli', 'main.ts')
  for (const name of ['borough', 'kubectl-borough'])
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 })
  symlinkSync(join(root, 'bin', 'kubectl_complete-borough'), join(bin, 'kubectl_complete-borough'))
  plane = await startControlPlane({ port: 0 })
  for (const name of ['team-a', 'team-b'])
    await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name } })
  writeFileSync(kubeconfig, plane.kubeconfig, { mode: 0o600 })
})

afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Not synchronous: the server that is asked runs in this process. */
async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return output
}

const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

/** Each answers what a shell offers for the last of the words. */
const shells: Readonly<Record<string, (words: readonly string[]) => Promise<string[]>>> = {
  bash: async (words) => {
    const array = `COMP_WORDS=(borough ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`
    const script = `source <(borough completion bash); ${array}; _borough; printf '%s\\n' "\${COMPREPLY[@]}"`
    return lines(await outputOf('bash', ['-c', script]))
  },
  zsh: async (words) => {
    // The shell's own `_describe` needs a terminal; what it is handed does not.
    const script =
      `_describe() { print -l -- "\${(@P)2}" }; compdef() {}; _files() { print files }; ` +
      `source <(borough completion zsh); words=(borough ${words.map((word) => `'${word}'`).join(' ')}); ` +
      `CURRENT=${words.length + 1}; _borough`
    return lines(await outputOf('zsh', ['-f', '-c', script])).map((line) => line.replace(/:.*$/, ''))
  },
  fish: async (words) => {
    const script = `borough completion fish | source; complete -C 'borough ${words.join(' ')}'`
    return lines(await outputOf('fish', ['--no-config', '-c', script])).map((line) => line.replace(/\t.*$/, ''))
  },
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

describe.each(Object.entries(shells))('%s', (shell, offers) => {
  test.skipIf(!hasShell(shell))('completes commands, flags, values and the names of namespaces', async () => {
    expect(await offers(['template', ''])).toEqual(expect.arrayContaining(['plan', 'rollback']))
    expect(await offers(['why', '--ou'])).toEqual(['--output'])
    expect((await offers(['why', '-o', ''])).sort()).toEqual(['json', 'name', 'text', 'wide', 'yaml'])
    expect((await offers(['template', 'plan', '--color', ''])).sort()).toEqual(['always', 'auto', 'never'])
    expect(await offers(['storage', 'verify', '--qu'])).toEqual(['--quiet'])
    expect(await offers(['why', 'team-'])).toEqual(['team-a', 'team-b'])
  })
})

/** How each starts without the files of a user, and what it reads then. */
const interactive: Readonly<Record<string, { readonly command: string; readonly setUp: string }>> = {
  bash: { command: 'bash --noprofile --norc -i', setUp: 'source <(borough completion bash)' },
  zsh: { command: 'zsh -f -i', setUp: 'autoload -U compinit; compinit -u; source <(borough completion zsh)' },
  fish: { command: 'fish --no-config -i', setUp: 'borough completion fish | source' },
}

const eraseLine = '\u0015'

describe.each(Object.entries(interactive))('%s at a terminal', (shell, { command, setUp }) => {
  test.skipIf(!hasShell(shell) || !hasTerminals)(
    'Tab shows what there is, and finishes what is the only one',
    async () => {
      await using terminal = Terminal.start(command, env)
      // The answer of the sum is not what was typed.
      terminal.type(`${setUp}; expr 6000 + 23\n`)
      await terminal.shows('6023')
      const tab = async (line: string, ...shown: readonly (string | RegExp)[]): Promise<void> => {
        terminal.type(`${line}\t\t`)
        await terminal.shows(...shown)
        terminal.type(`${eraseLine}expr 6000 + 23\n`)
        await terminal.shows('6023')
      }
      await tab('borough ', 'doctor', 'kubeconfig', 'populate')
      await tab('borough template ', 'plan', 'rollback')
      await tab('borough why --', '--output', '--kubeconfig')
      await tab('borough why -o ', 'json', 'wide', 'yaml')
      await tab('borough why --output=', 'json', 'wide', 'yaml')
      await tab('borough why --output=json team-', 'team-a', 'team-b')
      terminal.type('borough why --output=y\tteam-b\t\n')
      await terminal.shows('namespace: team-b')
      terminal.type('borough comple\tz\t\n')
      await terminal.shows('#compdef borough')
    },
  )
})

test.skipIf(!hasShell('zsh') || !hasTerminals)('zsh says of a value without description nothing', async () => {
  await using terminal = Terminal.start(interactive['zsh']?.command ?? '', env)
  terminal.type(`${interactive['zsh']?.setUp}\nborough why -o \t\t`)
  expect(await terminal.shows('json', 'wide', 'yaml')).not.toContain('-- json')
})

describeEachKubectl(({ path, minor }) => {
  test('kubectl borough is the same program', async () => {
    expect(await outputOf(path, ['borough', 'why', 'missing'])).toBe('There is no namespace missing.\n')
  })

  test.skipIf(minor < 26 || !hasShell('zsh') || !hasTerminals)('Tab behind kubectl borough asks it', async () => {
    await using terminal = Terminal.start('zsh -f -i', env)
    terminal.type(
      `autoload -U compinit; compinit -u; kubectl() { command '${path}' "$@" }; source <(kubectl completion zsh)\n`,
    )
    terminal.type('kubectl borough why team-\t\t')
    await terminal.shows('team-a', 'team-b')
    terminal.type(`${eraseLine}kubectl borough template \t\t`)
    await terminal.shows('plan', 'rollback')
  })

  test.skipIf(minor < 26)('kubectl completes it', async () => {
    expect(lines(await outputOf(path, ['__complete', 'borough', 'why', 'team-']))).toEqual(['team-a', 'team-b', ':4'])
  })
})
