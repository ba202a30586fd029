/**
 * The mutants of one source file: each is one small change of the code that a test ought to notice.
 *
 * A mutant is named by its file, the function that it is in, its text and what stands there instead, never by a line:
 * results and excuses stay true while code moves. Several of the same name are counted.
 *
 * Left out are changes that any test finds which finds another one here: `a || b` for `a && b` beside both `a` and `b`,
 * the negation of a condition beside `true` and `false`, an emptied block beside each of its statements taken away.
 * Also left out are types, names of properties and imports, and what is only written to the log.
 */
import { type ESTree, parseSync } from 'rolldown/utils'

export type Mutator =
  | 'condition'
  | 'comparison'
  | 'operand'
  | 'negation'
  | 'boolean'
  | 'statement'
  | 'string'
  | 'array'
  | 'arithmetic'
  | 'optional chaining'
  | 'method'

export interface Mutant {
  /** File, function, text and replacement, and which one of that name. */
  readonly name: string
  readonly file: string
  readonly mutator: Mutator
  readonly start: number
  readonly end: number
  /** What stands in the place of the text from start to end; undefined = nothing, it is a statement. */
  readonly replacement: string | undefined
  readonly line: number
  /** Runs when the module is loaded, not when a function of it is called. */
  readonly loaded: boolean
  /** If it makes no difference but where a part of the code has such a value. */
  readonly differs?: Difference
}

/** Where the expression from start to end has a value of this kind. */
export interface Difference {
  readonly start: number
  readonly end: number
  readonly where: 'truthy' | 'falsy' | 'nullish' | 'present'
}

type Node = ESTree.Node

/** Where in the tree a node is. */
interface Place {
  readonly parent: Node | undefined
  /** The parent of the parent. */
  readonly grandparent: Node | undefined
  /** The property of the parent that holds it. */
  readonly key: string
  /** The innermost function or class around it that has a name. */
  readonly within: string
  readonly loaded: boolean
}

interface Change {
  readonly node: Node
  readonly mutator: Mutator
  readonly replacement: string | undefined
  readonly place: Place
  readonly differs: Difference | undefined
}

const maxNameLength = 160
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

export function findMutants(file: string, text: string): Mutant[] {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]?.message}`)
  const changes: Change[] = []
  walk(program, { parent: undefined, grandparent: undefined, key: '', within: '', loaded: true }, (node, place) => {
    for (const [mutator, replacement, differs] of changesOf(node, place, text)) {
      changes.push({ node, mutator, replacement, place, differs })
    }
  })
  const seen = new Map<string, number>()
  return changes.map(({ node, mutator, replacement, place, differs }) => {
    const own = oneLine(text.slice(node.start, node.end)).slice(0, maxNameLength)
    const put = replacement === undefined ? '(nothing)' : oneLine(replacement).slice(0, maxNameLength)
    const base = `${file}\t${place.within}\t${own} → ${put}`
    const times = (seen.get(base) ?? 0) + 1
    seen.set(base, times)
    return {
      name: times === 1 ? base : `${base} (${times})`,
      file,
      mutator,
      start: node.start,
      end: node.end,
      replacement,
      line: text.slice(0, node.start).split('\n').length,
      loaded: place.loaded,
      ...(differs && { differs }),
    }
  })
}

/** Calls `visit` for each node that runs, parents first. */
function walk(node: Node, place: Place, visit: (node: Node, place: Place) => void): void {
  if (!runs(node)) return
  visit(node, place)
  const within = nameOf(node) ?? nameOf(place.parent) ?? place.within
  const loaded = place.loaded && !isFunction(node) && !isInstanceField(node)
  for (const [key, child] of Object.entries(node)) {
    for (const one of Array.isArray(child) ? child : [child]) {
      if (isNode(one) && !isName(node, key))
        walk(one, { parent: node, grandparent: place.parent, key, within, loaded }, visit)
    }
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const isFunction = ({ type }: Node): boolean =>
  type === 'ArrowFunctionExpression' || type === 'FunctionDeclaration' || type === 'FunctionExpression'

const isInstanceField = (node: Node): boolean => node.type === 'PropertyDefinition' && !node.static

/** Types, imports and directives don't run; of `as` and its like the expression does. What is logged no client sees. */
function runs(node: Node): boolean {
  if (/^TS(?!As|NonNull|Satisfies)/.test(node.type) || /^(Import|ExportAll)\w*Declaration$/.test(node.type))
    return false
  if (node.type !== 'ExpressionStatement') return true
  return !('directive' in node && node.directive) && !isLogged(node.expression)
}

function isLogged(node: Node): boolean {
  if (node.type === 'ChainExpression') return isLogged(node.expression)
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
  const { object, property } = node.callee
  const level = property.type === 'Identifier' && ['debug', 'info', 'warn', 'error'].includes(property.name)
  const logger = object.type === 'MemberExpression' ? object.property : object
  return level && (logger.type === 'Identifier' || logger.type === 'PrivateIdentifier') && logger.name === 'log'
}

/** The key of a property, what is after a dot, and where something is exported from. */
function isName(node: Node, key: string): boolean {
  if (key === 'source') return node.type !== 'ImportExpression'
  if (key === 'quasi') return node.type === 'TaggedTemplateExpression'
  return (key === 'key' || key === 'property') && 'computed' in node && !node.computed
}

function nameOf(node: Node | undefined): string | undefined {
  if (node === undefined) return undefined
  const named = namedBy(node)
  if (named?.type === 'Identifier') return named.name
  return named?.type === 'PrivateIdentifier' ? `#${named.name}` : undefined
}

function namedBy(node: Node): Node | null | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return node.id
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return node.key
    case 'Property':
      return isFunction(node.value) ? node.key : undefined
    case 'VariableDeclarator':
      return node.init && isFunction(node.init) ? node.id : undefined
    default:
      return undefined
  }
}

type Found = readonly [Mutator, replacement: string | undefined, differs?: Difference]

const at = ({ start, end }: Node, where: Difference['where']): Difference => ({ start, end, where })

/** With which values on the left the right side is asked, and with which it is not. */
const decides = {
  '&&': ['truthy', 'falsy'],
  '||': ['falsy', 'truthy'],
  '??': ['nullish', 'present'],
} as const

function changesOf(node: Node, place: Place, text: string): Found[] {
  const textOf = ({ start, end }: Node): string => text.slice(start, end)
  const found: Found[] = []
  if (isCondition(node, place)) found.push(...conditionChanges(node, place))
  if (isBinary(node)) found.push(...binaryChanges(node, isCondition(node, place), textOf))
  else if (node.type === 'LogicalExpression') {
    const [goesOn, ends] = decides[node.operator]
    found.push(['operand', `(${textOf(node.left)})`, at(node.left, goesOn)])
    found.push(['operand', `(${textOf(node.right)})`, at(node.left, ends)])
  } else if (node.type === 'UnaryExpression') {
    if (node.operator === '!' && !isCondition(node, place)) found.push(['negation', `(${textOf(node.argument)})`])
  } else if (node.type === 'Literal') found.push(...literalChanges(node, place))
  else if (node.type === 'TemplateLiteral') found.push(['string', "''"])
  else if (node.type === 'ArrayExpression') {
    if (node.elements.length > 0) found.push(['array', '[]'])
  } else if (node.type === 'AssignmentExpression') found.push(...assignmentChanges(node, textOf))
  else if (node.type === 'ChainExpression') found.push(...chainChanges(node, place, text))
  else if (node.type === 'CallExpression') found.push(...callChanges(node, textOf))
  if (isRemovable(node, place)) found.push(['statement', undefined])
  return found
}

function isCondition({ start }: Node, { parent, key }: Place): boolean {
  if (key !== 'test' || parent === undefined) return false
  return parent.type !== 'SwitchCase' && 'test' in parent && isNode(parent.test) && parent.test.start === start
}

function conditionChanges(node: Node, { parent }: Place): Found[] {
  if (node.type === 'Literal') return []
  const loops =
    parent?.type === 'WhileStatement' || parent?.type === 'ForStatement' || parent?.type === 'DoWhileStatement'
  // A loop without an end takes a timeout to find, and there is little to learn from it.
  return loops
    ? [['condition', 'false', at(node, 'truthy')]]
    : [
        ['condition', 'true', at(node, 'falsy')],
        ['condition', 'false', at(node, 'truthy')],
      ]
}

const boundaries: ReadonlyMap<string, readonly [boundary: string, negation: string]> = new Map([
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
])
const opposites: ReadonlyMap<string, string> = new Map([
  ['===', '!=='],
  ['!==', '==='],
])
const arithmetic: ReadonlyMap<string, string> = new Map([
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
])

/** All but `#name in object`. */
const isBinary = (node: Node): node is ESTree.BinaryExpression =>
  node.type === 'BinaryExpression' && node.left.type !== 'PrivateIdentifier'

function binaryChanges(node: ESTree.BinaryExpression, condition: boolean, textOf: (node: Node) => string): Found[] {
  const { left, right, operator } = node
  const by = (put: string): string => `(${textOf(left)}) ${put} (${textOf(right)})`
  const boundary = boundaries.get(operator)
  if (boundary !== undefined) {
    const [moved, negated] = boundary
    return condition
      ? [['comparison', by(moved)]]
      : [
          ['comparison', by(moved)],
          ['comparison', by(negated)],
        ]
  }
  const opposite = opposites.get(operator)
  if (opposite !== undefined) return condition ? [] : [['comparison', by(opposite)]]
  const put = arithmetic.get(operator)
  if (put === undefined || (operator === '+' && (isText(left) || isText(right)))) return []
  return [['arithmetic', by(put)]]
}

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' ||
  (node.type === 'Literal' && typeof node.value === 'string') ||
  (node.type === 'BinaryExpression' && (isText(node.left) || isText(node.right)))

function literalChanges(node: Node & { type: 'Literal' }, { parent, key }: Place): Found[] {
  // The name of a property in quotes, and `case` without a value to compare with.
  if (parent?.type === 'Property' && key === 'key') return []
  if (typeof node.value === 'boolean') {
    return key === 'test' ? [] : [['boolean', String(!node.value)]]
  }
  if (typeof node.value !== 'string') return []
  return [['string', node.value === '' ? "'mutant'" : "''"]]
}

function assignmentChanges(node: ESTree.AssignmentExpression, textOf: (node: Node) => string): Found[] {
  const { left, right, operator } = node
  const put = operator === '+=' ? '-=' : operator === '-=' ? '+=' : undefined
  return put === undefined || isText(right) ? [] : [['arithmetic', `${textOf(left)} ${put} (${textOf(right)})`]]
}

/** Each `?.` of a chain as a dot, so that it throws where there is nothing. */
function chainChanges(node: ESTree.ChainExpression, { parent, key }: Place, text: string): Found[] {
  // Behind `delete`, and as what is called, a chain is no value.
  if (parent?.type === 'UnaryExpression' || key === 'callee') return []
  const found: Found[] = []
  let link: Node = node.expression
  for (;;) {
    if (link.type === 'TSNonNullExpression') {
      link = link.expression
      continue
    }
    if (link.type !== 'MemberExpression' && link.type !== 'CallExpression') return found
    const inner: Node = link.type === 'CallExpression' ? link.callee : link.object
    if (link.optional) {
      const mark = text.indexOf('?.', inner.end)
      const dot = link.type === 'MemberExpression' && !link.computed ? '.' : ''
      const put = text.slice(node.start, mark) + dot + text.slice(mark + 2, node.end)
      // What is called must stay what it is, a member of something.
      found.push(
        link.type === 'CallExpression' ? ['optional chaining', put] : ['optional chaining', put, at(inner, 'nullish')],
      )
    }
    link = inner
  }
}

const otherMethods: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
])
const droppedMethods: ReadonlySet<string> = new Set(['filter', 'toLowerCase', 'trim', 'sort', 'toSorted', 'reverse'])

function callChanges(node: ESTree.CallExpression, textOf: (node: Node) => string): Found[] {
  const { callee, arguments: given } = node
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || callee.computed) return []
  const object = textOf(callee.object)
  // Within a chain the call is no expression of its own.
  if (callee.optional || object.includes('?.')) return []
  const other = otherMethods.get(callee.property.name)
  if (other !== undefined) return [['method', `${object}.${other}(${given.map(textOf).join(', ')})`]]
  return droppedMethods.has(callee.property.name) ? [['method', object]] : []
}

/** `return undefined` at the end of a function, `continue` at the end of a loop. */
function isNeedless(node: Node, { parent, grandparent }: Place): boolean {
  if (parent?.type !== 'BlockStatement' || parent.body.at(-1) !== node || grandparent === undefined) return false
  if (node.type === 'ContinueStatement') return /^(For|While|Do)/.test(grandparent.type)
  if (node.type !== 'ReturnStatement' || !isFunction(grandparent)) return false
  const { argument } = node
  return argument === null || (argument.type === 'Identifier' && argument.name === 'undefined')
}

const removable: ReadonlySet<string> = new Set([
  'ExpressionStatement',
  'ReturnStatement',
  'ThrowStatement',
  'BreakStatement',
  'ContinueStatement',
])

/** All but what a constructor of a derived class can't do without, and what happens anyway at the end of a function. */
function isRemovable(node: Node, place: Place): boolean {
  if (!removable.has(node.type) || place.parent === undefined || isNeedless(node, place)) return false
  if (node.type === 'ExpressionStatement' && node.expression.type === 'CallExpression') {
    return node.expression.callee.type !== 'Super'
  }
  return true
}
