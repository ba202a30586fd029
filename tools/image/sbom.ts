/** The bill of materials of the image: SPDX 2.3 in JSON, with a package URL for everything that is in it. */
import { createHash } from 'node:crypto'

export interface Component {
  readonly name: string
  readonly version: string
  /** An SPDX expression; absent = not said. */
  readonly license?: string
  /** `pkg:npm/yaml@2.9.1` */
  readonly purl: string
}

export interface Relation {
  readonly from: Component
  readonly type: 'CONTAINS' | 'DEPENDS_ON'
  readonly to: Component
}

/** @param subject what the document is about */
export function spdxDocument(subject: Component, relations: readonly Relation[], epochSeconds: number): object {
  const components = [...new Map([subject, ...relations.map(({ to }) => to)].map((c) => [c.purl, c])).values()]
  const digest = createHash('sha256').update(JSON.stringify(components)).digest('hex')
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${subject.name}-${subject.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${subject.name.replace(/\W+/g, '-')}-${digest}`,
    creationInfo: {
      created: new Date(epochSeconds * 1000).toISOString().replace('.000', ''),
      creators: ['Tool: borough'],
    },
    packages: components.map((component) => ({
      SPDXID: idOf(component),
      name: component.name,
      versionInfo: component.version,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: component.license ?? 'NOASSERTION',
      copyrightText: 'NOASSERTION',
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: component.purl }],
    })),
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: idOf(subject) },
      ...relations.map(({ from, type, to }) => ({
        spdxElementId: idOf(from),
        relationshipType: type,
        relatedSpdxElement: idOf(to),
      })),
    ],
  }
}

/** Letters, digits, dots and dashes are all that an id may hold. */
function idOf({ purl }: Component): string {
  return `SPDXRef-${purl.replace(/^pkg:/, '').replaceAll(/[^A-Za-z0-9.-]+/g, '-')}`
}

export function npmComponent(name: string, version: string, license: string | undefined): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { name, version, purl, ...(license === undefined ? {} : { license }) }
}

export function debianComponent(name: string, version: string, architecture: string): Component {
  return { name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}` }
}

/** Of `dist/THIRD-PARTY-NOTICES.txt`: the packages of which code was bundled. */
export function bundledComponents(notices: string): Component[] {
  return [...notices.matchAll(/^-{78}\n(\S+) (\S+) \((.+)\)$/gm)].map(([, name = '', version = '', license]) =>
    npmComponent(name, version, license),
  )
}
