/** How an image is made. `npm run image:try` runs a whole one. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { entrypoint } from '../../tools/image/contents.ts'
import { ImageLayout } from '../../tools/image/layers.ts'
import { bundledComponents, debianComponent, npmComponent, spdxDocument } from '../../tools/image/sbom.ts'

const work = mkdtempSync(join(tmpdir(), 'borough-image-test-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const config = {
  architecture: 'amd64',
  user: '65532:65532',
  workingDir: '/data',
  entrypoint: ['/usr/bin/node'],
  command: ['--help'],
  env: ['PATH=/usr/bin'],
  volumes: ['/data'],
  ports: ['6443/tcp'],
  labels: { 'org.opencontainers.image.title': 'borough' },
}

/** The same files, made in another order, at another time, with another mask. */
function fill(folder: string, names: readonly string[], mode: number): string {
  mkdirSync(join(folder, 'sub'), { recursive: true })
  for (const name of names) {
    writeFileSync(join(folder, 'sub', name), `content of ${name}`)
    chmodSync(join(folder, 'sub', name), mode)
    utimesSync(join(folder, 'sub', name), mode, mode)
  }
  symlinkSync('sub', join(folder, 'link'))
  return folder
}

async function build(place: string, folder: string): Promise<string> {
  const layout = new ImageLayout(place, 1_700_000_000)
  const layers = [await layout.addLayer(folder, 'files'), await layout.addLayer(folder, 'the same of a user', 65_532)]
  return layout.finish(layers, config, 'borough:0.1.0')
}

test('the same files make the same image, whenever and in whatever order they were made', async () => {
  const one = await build(join(work, 'one'), fill(join(work, 'a'), ['x', 'y', 'z'], 0o644))
  const two = await build(join(work, 'two'), fill(join(work, 'b'), ['z', 'x', 'y'], 0o664))
  expect(one).toBe(two)
  const other = await build(join(work, 'three'), fill(join(work, 'c'), ['z', 'x'], 0o644))
  expect(other).not.toBe(one)
})

test('every blob is what its name says, and the layers are those that the settings name', async () => {
  const place = join(work, 'whole')
  const digest = await build(place, fill(join(work, 'd'), ['x'], 0o644))
  const blob = (name: string): Buffer => {
    const bytes = readFileSync(join(place, 'blobs', name.replace(':', '/')))
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(name)
    return bytes
  }
  const manifest = JSON.parse(blob(digest).toString()) as {
    config: { digest: string }
    layers: { digest: string; size: number }[]
  }
  const settings = JSON.parse(blob(manifest.config.digest).toString()) as { rootfs: { diff_ids: string[] } }
  for (const { digest: name, size } of manifest.layers) expect(blob(name).length).toBe(size)
  expect(settings.rootfs.diff_ids.length).toBe(manifest.layers.length)
  expect(settings).toMatchObject({ os: 'linux', config: { User: '65532:65532', Entrypoint: ['/usr/bin/node'] } })
})

test('Node is started with the same flags as by the command', () => {
  const flags = /exec node (.*) "\$0"/.exec(readFileSync('bin/borough.mjs', 'utf8'))?.[1]
  expect(entrypoint.slice(1, -1).join(' ')).toBe(flags)
})

test('the bill of materials names every part by its package URL, and what holds what', () => {
  const own = npmComponent('@borough/borough', '0.1.0', 'Apache-2.0')
  const libc = debianComponent('libc6', '2.36-9+deb12u14', 'amd64')
  const [ws] = bundledComponents(`${'-'.repeat(78)}\nws 8.23.0 (MIT)\n\nCopyright\n`)
  if (!ws) throw new Error('the notice was not read')
  const relations = [
    { from: own, type: 'DEPENDS_ON', to: libc },
    { from: own, type: 'CONTAINS', to: ws },
  ] as const
  expect(spdxDocument(own, relations, 0)).toMatchObject({
    spdxVersion: 'SPDX-2.3',
    creationInfo: { created: '1970-01-01T00:00:00Z' },
    packages: [
      { SPDXID: 'SPDXRef-npm-40borough-borough-0.1.0', licenseDeclared: 'Apache-2.0' },
      { externalRefs: [{ referenceLocator: 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64' }] },
      { name: 'ws', versionInfo: '8.23.0', externalRefs: [{ referenceLocator: 'pkg:npm/ws@8.23.0' }] },
    ],
    relationships: [
      { relationshipType: 'DESCRIBES' },
      { relationshipType: 'DEPENDS_ON', relatedSpdxElement: 'SPDXRef-deb-debian-libc6-2.36-9-2Bdeb12u14-arch-amd64' },
      { relationshipType: 'CONTAINS', relatedSpdxElement: 'SPDXRef-npm-ws-8.23.0' },
    ],
  })
})
