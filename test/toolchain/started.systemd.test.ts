/** The unit, started by a real systemd: ready, confined, back after a crash, and quick to end. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RealSystemd, whyNoSystemd } from '../support/real-systemd.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = join(root, '.cache', `systemd-test-${process.pid}`)
const missing = whyNoSystemd()
const unit = 'borough.service'
const dataDir = '/var/lib/borough/data'

describe.skipIf(missing !== undefined)(`a systemd of its own (${missing ?? 'there is one'})`, () => {
  let systemd: RealSystemd

  beforeAll(async () => {
    // As the package is installed: from the source each start would take seconds, as no process here may keep a cache.
    mkdirSync(installed, { recursive: true })
    for (const name of ['package.json', 'bin']) cpSync(join(root, name), join(installed, name), { recursive: true })
    const { status } = spawnSync(process.execPath, [join(root, 'tools', 'bundle.mjs'), join(installed, 'dist')])
    expect(status).toBe(0)
    systemd = await RealSystemd.start(root)
    const program = `/opt/borough/.cache/${basename(installed)}/bin/borough.mjs`
    await systemd.write('/usr/local/bin/borough', `#!/bin/sh\nexec /opt/node/node ${program} "$@"\n`, 0o755)
    const place = join(root, 'deploy/systemd', unit)
    await systemd.write(`/etc/systemd/system/${unit}`, readFileSync(place, 'utf8'))
    await configure('listen: 127.0.0.1:6443')
    await systemd.run('systemctl', 'daemon-reload')
  })
  afterAll(async () => {
    rmSync(installed, { recursive: true, force: true })
    await systemd?.[Symbol.asyncDispose]()
  })

  const configure = (text: string): Promise<void> => systemd.write('/etc/borough/config.yaml', `${text}\n`)
  const systemctl = (...args: readonly string[]): ReturnType<RealSystemd['run']> => systemd.run('systemctl', ...args)
  const borough = (...args: readonly string[]): ReturnType<RealSystemd['run']> => systemd.run('borough', ...args)

  /** `systemctl start` comes back when the server said that it serves. */
  async function started(): Promise<void> {
    const { code, output } = await systemctl('restart', unit)
    expect({ code, output, journal: code === 0 ? '' : await journal() }).toEqual({ code: 0, output: '', journal: '' })
  }

  const journal = async (): Promise<string> => (await systemd.run('journalctl', '-u', unit, '-o', 'cat')).output

  test('it serves when it has started, and nothing that doctor looks at is wrong', async () => {
    await started()
    expect(await systemd.show(unit, 'ActiveState')).toBe('active')
    const { code, output } = await borough('doctor', '--data-dir', dataDir, '--color', 'never')
    expect(output).toContain(', 0 warnings, 0 failed')
    expect(code).toBe(0)
    expect(await journal()).toContain(
      `Borough serves https://127.0.0.1:6443. To use it: export KUBECONFIG=${dataDir}/admin.kubeconfig\n`,
    )
  })

  test('it runs as a user of its own, without capabilities, behind a filter of system calls', async () => {
    const pid = await systemd.show(unit, 'MainPID')
    const { output } = await systemd.run('cat', `/proc/${pid}/status`)
    const fields = new Map(output.split('\n').map((line) => line.split(/:\s*/, 2) as [string, string]))
    expect(Number(fields.get('Uid')?.split('\t')[0])).toBeGreaterThan(60_000)
    for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(fields.get(set)).toBe('0000000000000000')
    expect([fields.get('NoNewPrivs'), fields.get('Seccomp')]).toEqual(['1', '2'])
    const { output: modes } = await systemd.run('stat', '-L', '-c', '%a %U', '/var/lib/borough', dataDir)
    expect(modes).toBe('700 borough\n700 borough\n')
  })

  test('killed, it comes back, with what it had acknowledged', async () => {
    const made = await borough('kubeconfig', '--user', 'a', '--data-dir', dataDir, '--out', '/root/a.kubeconfig')
    expect(made.code).toBe(0)
    const pid = await systemd.show(unit, 'MainPID')
    await systemd.run('kill', '-9', pid)
    const isBack = async (): Promise<boolean> =>
      (await systemd.show(unit, 'NRestarts')) === '1' && (await systemd.show(unit, 'ActiveState')) === 'active'
    await vi.waitUntil(isBack, { timeout: 60_000, interval: 50 })
    expect(await systemd.show(unit, 'MainPID')).not.toBe(pid)
    const doctor = await borough('doctor', '--data-dir', dataDir, '--color', 'never')
    expect(doctor.output).toContain(', 0 warnings, 0 failed')
  })

  test('stopped, it ends by itself and says so', async () => {
    expect(await systemctl('stop', unit)).toEqual({ code: 0, output: '' })
    const after = await Promise.all(['Result', 'ExecMainStatus', 'ActiveState'].map((each) => systemd.show(unit, each)))
    expect(after).toEqual(['success', '0', 'inactive'])
  })

  test('its workers live and end with it', async () => {
    await configure('listen: 127.0.0.1:6443\nworkers: 2')
    await started()
    const group = `/sys/fs/cgroup${await systemd.show(unit, 'ControlGroup')}/cgroup.procs`
    // What told systemd that it serves may still be ending.
    await expect.poll(async () => (await systemd.run('cat', group)).output.trim().split('\n').length).toBe(3)
    expect(await systemctl('stop', unit)).toEqual({ code: 0, output: '' })
    expect(await systemd.show(unit, 'Result')).toBe('success')
  })

  test('what it can not do is in the journal, and the start fails', async () => {
    for (const [settings, said] of [
      ['listn: 127.0.0.1:6443', '/etc/borough/config.yaml: borough up has no setting listn'],
      ['listen: 127.0.0.1:443', 'ports below 1024 take the capability CAP_NET_BIND_SERVICE, choose another'],
    ] as const) {
      await configure(settings)
      expect((await systemctl('restart', unit)).code).toBe(1)
      expect(await journal()).toContain(said)
      await systemctl('stop', unit)
    }
  })

  test('a port below 1024 takes the capability, which a drop-in gives', async () => {
    const capability = 'CAP_NET_BIND_SERVICE'
    const lines = `[Service]\nCapabilityBoundingSet=${capability}\nAmbientCapabilities=${capability}\n`
    await systemd.write(`/etc/systemd/system/${unit}.d/port.conf`, lines)
    await configure('listen: 127.0.0.1:443')
    await systemctl('daemon-reload')
    await started()
    expect(await systemd.show(unit, 'ActiveState')).toBe('active')
    await systemctl('stop', unit)
  })
})
