import { fileURLToPath } from 'node:url'

/** Of the repository, with a slash at the end. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url))
