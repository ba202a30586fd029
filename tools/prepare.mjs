/**
 * npm's `prepare`: makes dist/ where the package is packed, published, or installed from its repository. The install of
 * tools/bootstrap.mjs leaves it out: `npm start` builds by itself, `npm test` needs it late.
 */
import { bringUpToDate } from './build.mjs'

if (process.env.BOROUGH_BOOTSTRAP === undefined && !bringUpToDate()) process.exitCode = 1
