/** A name of the serving certificate, on the command line. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const dnsName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`, 'i')

/** For a flag that is repeatable. @throws InvalidArgumentError for what no client would ever ask for */
export function addServingName(text: string, before: readonly string[]): readonly string[] {
  if (isIP(text) === 0 && (text.length > 253 || !dnsName.test(text))) {
    throw new InvalidArgumentError('It must be a host name or an IP address, such as api.example.com or 10.0.0.7.')
  }
  return [...before, text]
}
