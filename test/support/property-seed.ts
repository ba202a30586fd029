/**
 * Which cases properties are tried with. In CI always the same ones: a commit is green or red, not now and then.
 * Elsewhere others in every run, which is where new ones are found; BOROUGH_PROPERTY_SEED repeats a run.
 */
import fc from 'fast-check'

const given = process.env['BOROUGH_PROPERTY_SEED'] ?? (process.env['CI'] === undefined ? undefined : '20261121')
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) })
