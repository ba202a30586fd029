/** The name of a namespace on the command line. */
import { InvalidArgumentError } from 'commander'
import { isDns1123Label } from '../kube/names.ts'

/** @throws InvalidArgumentError for what no namespace can be called */
export function parseNamespace(text: string): string {
  const [problem] = isDns1123Label(text)
  if (problem !== undefined) throw new InvalidArgumentError(`It names a namespace: ${problem}`)
  return text
}

/** An argument that names one: `team-a`, or `ns/team-a` as kubectl takes and prints it. */
export const namespaceNamed = (text: string): string => text.replace(/^(?:ns|namespaces?)\//, '')
