/**
 * The licences of packages that are part of dist/, as their terms ask: name, version, and the text of the licence and
 * of the notice that each package carries.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} file of a module
 * @returns {string | undefined} the folder of its package; undefined for our own modules
 */
export function packageOf(file) {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replace(/^\0/, ''))
  return folder?.[0]
}

/** Licences that ask for no copy of their text. */
const givenAway = ['Unlicense', '0BSD', 'CC0-1.0']

/**
 * @param {Iterable<string>} folders of packages
 * @returns {string}
 * @throws Error for a package without the text of a licence
 */
export function noticesOf(folders) {
  const parts = [...folders].map(noticeOf).sort()
  return `Borough's dist/ holds code of these packages, each under its own licence.\n\n${parts.join('\n')}`
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (texts.length === 0 && !givenAway.includes(license))
    throw new Error(`${name} ${version} (${license}) has no file with its licence`)
  return `${'-'.repeat(78)}\n${name} ${version} (${license})\n${texts.map((text) => `\n${text}\n`).join('')}`
}
