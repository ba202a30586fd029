/** What random histories found, reduced to what matters. */
import type { Step } from './steps.ts'
import { plainShape, steps } from './steps.ts'

const { disable, make, pause, write } = steps
const inX = { labels: { tier: 'x' } }

export const foundBefore: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  'what is disabled does not say that it is paused, until it is enabled': [
    [write('a', plainShape), make('n0', inX)],
    [disable('a', true)],
    [pause(true)],
    [disable('a', false)],
  ],
}
