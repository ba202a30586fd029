/**
 * The subject of a certificate or of a certificate request, as far as it names a user: common name and organizations.
 *
 * X.509 has several types of strings for the same text. Each is decoded as Go decodes it, and refused where Go refuses
 * it, so that one name is one user whichever type the issuer chose, and bytes that are no text of their type are no
 * name. Node's own reading is laxer: it takes bytes beyond ASCII in a PrintableString for Latin-1.
 *
 * @see crypto/x509 (parseASN1String, parseName) and crypto/x509/pkix (FillFromRDNSequence) of Go 1.26
 */
import { type DerElement, DerError, derTags, elementsIn, elementsOf, expectElement, oidText } from './der.ts'
import { textOfBytes } from './header-bytes.ts'

export interface SubjectName {
  /** Empty where there is none; the last where there are several. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

const commonNameOid = '2.5.4.3'
const organizationOid = '2.5.4.10'
/** `[0]`, in front of a certificate's version. */
const versionTag = 0xa0
/** Serial number, signature algorithm, issuer, validity. */
const beforeSubject = 4

/** undefined = Go would not read this certificate. */
export function subjectOfCertificate(der: Uint8Array): SubjectName | undefined {
  try {
    const [certificate] = elementsOf(Buffer.from(der.buffer, der.byteOffset, der.byteLength))
    const fields = elementsIn(elementsIn(certificate)[0])
    const first = fields[0]?.tag === versionTag ? 1 : 0
    return readSubject(fields[first + beforeSubject])
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}

/** @param name a distinguished name. @throws DerError */
export function readSubject(name: DerElement | undefined): SubjectName {
  const attributes = elementsIn(name).flatMap(({ content }) => elementsOf(content).map(elementsIn))
  const valuesOf = (oid: string): string[] =>
    attributes.flatMap(([type, value]) => {
      const { content } = expectElement(type, derTags.objectIdentifier)
      return value !== undefined && oidText(content) === oid ? [textOf(value)] : []
    })
  return { commonName: valuesOf(commonNameOid).at(-1) ?? '', organizations: valuesOf(organizationOid) }
}

interface StringType {
  readonly name: string
  /** undefined = not of this type. */
  decode(bytes: Buffer): string | undefined
}

const ascii =
  (allowed: RegExp) =>
  (bytes: Buffer): string | undefined => {
    const text = bytes.toString('latin1')
    return allowed.test(text) ? text : undefined
  }

const stringTypes: Readonly<Record<number, StringType>> = {
  12: { name: 'UTF8String', decode: textOfBytes },
  18: { name: 'NumericString', decode: ascii(/^[0-9 ]*$/) },
  19: { name: 'PrintableString', decode: ascii(/^[A-Za-z0-9'()+,\-./ :=?*&]*$/) },
  // T.61 has a code page of its own, but issuers that use the type write Latin-1.
  20: { name: 'T61String', decode: (bytes) => bytes.toString('latin1') },
  22: { name: 'IA5String', decode: ascii(/^[\x00-\x7f]*$/) },
  30: { name: 'BMPString', decode: ucs2 },
}

function textOf({ tag, content }: DerElement): string {
  const type = stringTypes[tag]
  if (type === undefined) throw new DerError(`x509: unsupported string type: ${tag}`)
  const text = type.decode(content)
  if (text === undefined) throw new DerError(`x509: invalid ${type.name}`)
  return text
}

/** Two bytes a character: surrogates and what Unicode keeps from being characters do not belong there. */
function ucs2(bytes: Buffer): string | undefined {
  if (bytes.length % 2 !== 0) return undefined
  const text = Buffer.from(bytes).swap16().toString('utf16le').replace(/\0$/, '')
  return /[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text) ? undefined : text
}
