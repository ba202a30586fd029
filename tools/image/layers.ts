/**
 * Layers and the layout of an OCI image (image-spec 1.1), made of folders. The same files make the same bytes: names
 * are sorted, owners are numbers, times are `epochSeconds`.
 */
import { spawn } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
}

export interface Layer {
  readonly descriptor: Descriptor
  /** Digest of the archive before it was compressed. */
  readonly diffId: string
  /** For the history of the image. */
  readonly about: string
}

export interface ImageConfig {
  readonly architecture: string
  readonly user: string
  readonly workingDir: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly env: readonly string[]
  readonly volumes: readonly string[]
  readonly ports: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** Image-layout folder: `oci-layout`, `index.json`, `blobs/sha256/…`. */
export class ImageLayout {
  readonly #folder: string
  readonly #epochSeconds: number

  constructor(folder: string, epochSeconds: number) {
    this.#folder = folder
    this.#epochSeconds = epochSeconds
    mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true })
    writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  }

  /**
   * @param owner of everything in the layer; 0 = root
   * @throws Error if tar fails
   */
  async addLayer(folder: string, about: string, owner = 0): Promise<Layer> {
    const waiting = join(this.#folder, 'blobs', 'layer')
    const plain = createHash('sha256')
    const packed = createHash('sha256')
    const tar = spawn(
      'tar',
      [
        ...['--create', '--file=-', '--directory', folder, '--format=posix', '--sort=name', '--numeric-owner'],
        ...[`--owner=${owner}`, `--group=${owner}`, `--mtime=@${this.#epochSeconds}`],
        ...['--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime', '--mode=u+rw,go-w', '.'],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(tar, 'exit')
    const target = createWriteStream(waiting)
    await pipeline(tar.stdout, hashing(plain), createGzip({ level: 9 }), hashing(packed), target)
    const [code] = (await ended) as [number | null]
    if (code !== 0) throw new Error(`tar of ${folder} ended with ${code}`)
    const digest = `sha256:${packed.digest('hex')}`
    const { size } = statSync(waiting)
    renameSync(waiting, this.#blob(digest))
    const mediaType = 'application/vnd.oci.image.layer.v1.tar+gzip'
    return { descriptor: { mediaType, digest, size }, diffId: `sha256:${plain.digest('hex')}`, about }
  }

  /** @returns the digest of the manifest, by which the image is known */
  finish(layers: readonly Layer[], config: ImageConfig, name: string): string {
    const created = new Date(this.#epochSeconds * 1000).toISOString()
    const settings = {
      created,
      architecture: config.architecture,
      os: 'linux',
      config: {
        User: config.user,
        ExposedPorts: Object.fromEntries(config.ports.map((port) => [port, {}])),
        Env: config.env,
        Entrypoint: config.entrypoint,
        Cmd: config.command,
        Volumes: Object.fromEntries(config.volumes.map((path) => [path, {}])),
        WorkingDir: config.workingDir,
        Labels: config.labels,
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ about }) => ({ created, created_by: about })),
    }
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: this.#addJson(settings, 'application/vnd.oci.image.config.v1+json'),
      layers: layers.map(({ descriptor }) => descriptor),
      annotations: { ...config.labels, 'org.opencontainers.image.created': created },
    }
    const described = this.#addJson(manifest, manifest.mediaType)
    const annotations = { 'org.opencontainers.image.ref.name': name, 'io.containerd.image.name': name }
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{ ...described, platform: { architecture: config.architecture, os: 'linux' }, annotations }],
    }
    writeFileSync(join(this.#folder, 'index.json'), JSON.stringify(index))
    return described.digest
  }

  #addJson(content: object, mediaType: string): Descriptor {
    const bytes = Buffer.from(JSON.stringify(content))
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    writeFileSync(this.#blob(digest), bytes)
    return { mediaType, digest, size: bytes.length }
  }

  #blob(digest: string): string {
    return join(this.#folder, 'blobs', 'sha256', digest.slice('sha256:'.length))
  }
}

function hashing(hash: Hash): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}
