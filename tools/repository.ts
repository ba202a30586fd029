/** The address of the repository as package.json, the chart and the image say it, from whatever git was told. */

export interface Addresses {
  /** As npm writes it: `git+https://git.example/team/borough.git` */
  readonly repository: { readonly type: 'git'; readonly url: string }
  readonly bugs: { readonly url: string }
  readonly homepage: string
}

/** `git@host:path`, which is no URL. */
const scpForm = /^(?:[^@\s/]+@)?([^\s/:@]{2,}):(?!\/\/)\/?(.+)$/

/**
 * @param address `https://…`, `ssh://…`, `git@host:path`, with `git+` or without
 * @returns undefined for what another machine can't reach: a folder, a file
 */
export function addressesOf(address: string): Addresses | undefined {
  const plain = address.trim().replace(/^git\+/, '')
  const [, host, path] = scpForm.exec(plain) ?? []
  const text = host === undefined ? plain : `ssh://${host}/${path}`
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port, pathname } = new URL(text)
  if (!['https:', 'http:', 'ssh:', 'git:'].includes(protocol) || hostname === '') return undefined
  const name = pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  if (!/^(?:\/[\w.~+-]+)+$/.test(name)) return undefined
  // The port of ssh is none of the page's. Credentials in the address stay out.
  const web = `https://${hostname}${protocol === 'https:' && port !== '' ? `:${port}` : ''}${name}`
  return {
    repository: { type: 'git', url: `git+${web}.git` },
    bugs: { url: `${web}/issues` },
    homepage: `${web}#readme`,
  }
}

/** Of a package.json. undefined: it names none. */
export function webAddressOf({ repository }: { readonly repository?: { readonly url: string } }): string | undefined {
  return repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')
}
