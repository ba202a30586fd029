/** The address of a server on the command line. */
import { InvalidArgumentError } from 'commander'

/** As it stands in a kubeconfig. @throws InvalidArgumentError */
export function parseServer(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new InvalidArgumentError('It must be https://host[:port][/path].')
  }
  return text
}
