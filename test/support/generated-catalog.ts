/** Tests need the generated catalogue: makes it when it is missing or older than what it is made by. */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const generator = at('tools/generate-catalog.ts')

export default function setup(): void {
  const made = statSync(at('src/catalog/generated/descriptions.json'), { throwIfNoEntry: false })
  if (made && made.mtimeMs >= statSync(generator).mtimeMs) return
  execFileSync(process.execPath, [generator], { stdio: 'inherit' })
}
