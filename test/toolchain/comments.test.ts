/**
 * Comments name who acts in the words of the field: client, controller, writer, caller, request. Pronouns that stand
 * for no one in particular make a reader guess.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const vague = /\b(?:nobody|whoever|somebody|anybody|everybody|those who)\b/i

interface Comment {
  /** `src/a.ts:12` */
  readonly place: string
  readonly text: string
}

/** Line by line: the text of block comments, and what follows `//` where that begins a comment. */
function commentsOf(path: string, text: string): Comment[] {
  const found: Comment[] = []
  let inBlock = false
  for (const [i, line] of text.split('\n').entries()) {
    const starts = /^\s*\/\*/.test(line)
    const comment = inBlock || starts ? line : /^(?:\s*|.*\s)\/\/ (.*)$/.exec(line)?.[1]
    inBlock = (inBlock || starts) && !line.includes('*/')
    if (comment !== undefined) found.push({ place: `${path}:${i + 1}`, text: comment.trim() })
  }
  return found
}

const comments: readonly Comment[] = ['src', 'tools']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.(?:ts|mjs)$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .flatMap((path) => commentsOf(path, readFileSync(join(root, path), 'utf8')))

test('the comments were found', () => {
  expect(comments.length).toBeGreaterThan(5000)
  const lines = ['/** Nobody', ' * here */', "const a = '//' // whoever", '  // somebody']
  expect(commentsOf('a.ts', lines.join('\n')).filter(({ text }) => vague.test(text))).toHaveLength(3)
})

test('comments say who acts', () => {
  expect(comments.filter(({ text }) => vague.test(text)).map(({ place }) => place)).toEqual([])
})
