/**
 * Makes the image of `borough` without a container engine.
 *
 *   npm run image                        image/ and image/borough-<version>.tar
 *   npm run image -- --out /tmp/image
 *   npm run image -- --no-compiled       without the layer of compiled code: the same digest each time
 *
 * What comes out is an OCI layout: `docker load`, `podman load` and `skopeo copy oci-archive:…` read the archive.
 * Needs apt, dpkg-deb and GNU tar: a Debian or one of its children, for the architecture that it runs on.
 * See docs/adr/0056-an-image-without-an-engine.md.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { webAddressOf } from '../repository.ts'
import { compileInside } from './compiled.ts'
import {
  type DebianPackage,
  entrypoint,
  fillBase,
  fillData,
  fillNode,
  fillPackage,
  imageUser,
  runtimePackages,
} from './contents.ts'
import { ImageLayout, type Layer } from './layers.ts'
import { bundledComponents, debianComponent, npmComponent, type Relation, spdxDocument } from './sbom.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'image') },
    'no-compiled': { type: 'boolean', default: false },
  },
})
const said = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly homepage?: string
  readonly repository?: { readonly url: string }
}
const { name, version, license } = said
const architecture = process.arch === 'x64' ? 'amd64' : process.arch
/** Of the commit, so that the same commit makes the same image. */
const epochSeconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'))
const out = resolve(flags.out)

const work = mkdtempSync(join(tmpdir(), 'borough-image-'))
try {
  await build()
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function build(): Promise<void> {
  rmSync(out, { recursive: true, force: true })
  const layout = new ImageLayout(join(out, 'oci'), epochSeconds)
  const folder = (part: string): string => {
    mkdirSync(join(work, part), { recursive: true, mode: 0o755 })
    return join(work, part)
  }
  const layers: Layer[] = []
  const add = async (part: string, about: string, owner = 0): Promise<void> => {
    const layer = await layout.addLayer(join(work, part), about, owner)
    layers.push(layer)
    process.stdout.write(`${(layer.descriptor.size / 1024 / 1024).toFixed(1).padStart(6)} MiB  ${about}\n`)
  }
  const debian = fillBase(folder('base'), join(work, 'debs'))
  await add('base', 'libraries of Debian')
  fillNode(folder('node'))
  await add('node', `Node ${process.versions.node}`)
  fillPackage(folder('package'), folder('archives'))
  const sbom = JSON.stringify(billOfMaterials(debian), undefined, 1)
  writeFileSync(join(out, 'sbom.spdx.json'), sbom)
  writeFileSync(join(work, 'package', 'borough', 'sbom.spdx.json'), sbom)
  await add('package', `${name} ${version}`)
  fillData(folder('data'))
  await add('data', 'a place for data', imageUser)
  if (!flags['no-compiled']) {
    await compileInside(
      ['base', 'node', 'package', 'data'].map((part) => join(work, part)),
      folder('compiled'),
      folder('trial'),
    )
    await add('compiled', 'compiled code')
  }
  const digest = layout.finish(
    layers,
    {
      architecture,
      user: `${imageUser}:${imageUser}`,
      workingDir: '/data',
      entrypoint,
      command: ['--help'],
      env: ['PATH=/usr/bin:/bin', 'NODE_ENV=production', 'MALLOC_ARENA_MAX=1', 'HOME=/data'],
      volumes: ['/data'],
      ports: ['6443/tcp'],
      labels: {
        'org.opencontainers.image.title': 'borough',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': git('rev-parse', 'HEAD'),
        'org.opencontainers.image.licenses': license,
        ...placeLabels(),
      },
    },
    `borough:${version}`,
  )
  const archive = join(out, `borough-${version}.tar`)
  const same = ['--sort=name', `--mtime=@${epochSeconds}`, '--owner=0', '--group=0', '--numeric-owner']
  execFileSync('tar', ['-cf', archive, ...same, '-C', join(out, 'oci'), 'oci-layout', 'index.json', 'blobs'])
  const bytes = layers.reduce((sum, { descriptor }) => sum + descriptor.size, 0)
  process.stdout.write(`${(bytes / 1024 / 1024).toFixed(1).padStart(6)} MiB  ${archive}\n${digest}\n`)
}

/** Once a release has written them into package.json. */
function placeLabels(): Readonly<Record<string, string>> {
  const source = webAddressOf(said)
  return {
    ...(source === undefined ? {} : { 'org.opencontainers.image.source': source }),
    ...(said.homepage === undefined ? {} : { 'org.opencontainers.image.url': said.homepage }),
  }
}

function billOfMaterials(debian: readonly DebianPackage[]): object {
  const own = npmComponent(name, version, license)
  const read = (path: string): { name: string; version: string; license?: string } =>
    JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as { name: string; version: string }
  const node = { name: 'node', version: process.versions.node, purl: `pkg:generic/node@${process.versions.node}` }
  const relations: Relation[] = [
    ...debian.map((p) => ({
      from: own,
      type: 'DEPENDS_ON' as const,
      to: debianComponent(p.name, p.version, architecture),
    })),
    { from: own, type: 'DEPENDS_ON', to: { ...node, license: 'MIT' } },
    ...runtimePackages().map((path) => {
      const found = read(path)
      const to = npmComponent(found.name, found.version, found.license)
      return { from: own, type: 'DEPENDS_ON' as const, to }
    }),
    ...bundledComponents(readFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')).map((to) => ({
      from: own,
      type: 'CONTAINS' as const,
      to,
    })),
  ]
  return spdxDocument(own, relations, epochSeconds)
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
