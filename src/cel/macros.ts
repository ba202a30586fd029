/**
 * Macros: calls that are another expression. `undefined` where a call only has the name of one, or other arguments.
 * @see cel-go parser/macro.go, cel/macro.go, ext/comprehensions.go, ext/lists.go (as of Kubernetes v0.36)
 */
import { accumulator, type Expr } from './ast.ts'
import { SyntaxFault } from './lexer.ts'

export interface NodeFactory {
  node(offset: number): { readonly id: number; readonly offset: number }
}

export interface MacroCall {
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
  readonly offset: number
}

type Expand = (make: Maker, call: MacroCall & { readonly target: Expr }) => Expr

/** By name and number of arguments. */
const receiverMacros: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ['all/2', (m, c) => m.quantified(c, 'all')],
  ['exists/2', (m, c) => m.quantified(c, 'exists')],
  ['exists_one/2', (m, c) => m.one(c)],
  ['existsOne/2', (m, c) => m.one(c)],
  ['map/2', (m, c) => m.mapped(c, undefined)],
  ['map/3', (m, c) => m.mapped(c, c.args[1])],
  ['filter/2', (m, c) => m.filtered(c)],
  ['all/3', (m, c) => m.quantified(c, 'all')],
  ['exists/3', (m, c) => m.quantified(c, 'exists')],
  ['exists_one/3', (m, c) => m.one(c)],
  ['existsOne/3', (m, c) => m.one(c)],
  ['transformList/3', (m, c) => m.transformed(c, 'list')],
  ['transformList/4', (m, c) => m.transformed(c, 'list')],
  ['transformMap/3', (m, c) => m.transformed(c, 'map')],
  ['transformMap/4', (m, c) => m.transformed(c, 'map')],
  ['transformMapEntry/3', (m, c) => m.transformed(c, 'entry')],
  ['transformMapEntry/4', (m, c) => m.transformed(c, 'entry')],
  ['optMap/2', (m, c) => m.optional(c, true)],
  ['optFlatMap/2', (m, c) => m.optional(c, false)],
  ['sortBy/2', (m, c) => m.sortedBy(c)],
])

export function expandMacro(factory: NodeFactory, call: MacroCall): Expr | undefined {
  const { name, target, args, offset } = call
  if (target === undefined) {
    if (name !== 'has' || args.length !== 1) return undefined
    const arg = args[0] as Expr
    if (arg.kind === 'select') return { ...arg, test: true, ...factory.node(offset) }
    throw new SyntaxFault('invalid argument to has() macro', offset)
  }
  const expand = receiverMacros.get(`${name}/${args.length}`)
  return expand?.(new Maker(factory, offset), { ...call, target })
}

class Maker {
  readonly #factory: NodeFactory
  readonly #offset: number

  constructor(factory: NodeFactory, offset: number) {
    this.#factory = factory
    this.#offset = offset
  }

  get #node(): { readonly id: number; readonly offset: number } {
    return this.#factory.node(this.#offset)
  }

  #literal = (value: boolean | bigint): Expr => ({ kind: 'literal', value, ...this.#node })
  #ident = (name: string): Expr => ({ kind: 'ident', name, ...this.#node })
  #list = (...items: Expr[]): Expr => ({ kind: 'list', items, optional: new Set(), ...this.#node })
  #call = (name: string, args: Expr[], target?: Expr): Expr => ({ kind: 'call', name, target, args, ...this.#node })
  #accu = (): Expr => this.#ident(accumulator)

  /** The names of the variables: all arguments but the last ones, which are expressions. */
  #variables(args: readonly Expr[], count: number): [string, string | undefined] {
    const names = args.slice(0, count).map((arg) => {
      if (arg.kind !== 'ident') throw new SyntaxFault('argument must be a simple name', arg.offset)
      if (arg.name === accumulator || arg.name === '__result__') {
        throw new SyntaxFault(`iteration variable overwrites accumulator variable`, arg.offset)
      }
      return arg.name
    })
    if (names.length === 2 && names[0] === names[1]) {
      throw new SyntaxFault(`duplicate variable name: ${names[0]}`, args[1]?.offset ?? this.#offset)
    }
    return [names[0] ?? '', names[1]]
  }

  #fold(
    range: Expr,
    [iterVar, iterVar2]: [string, string | undefined],
    accuInit: Expr,
    parts: { readonly condition: Expr; readonly step: Expr; readonly result: Expr },
  ): Expr {
    return { kind: 'comprehension', range, iterVar, iterVar2, accuVar: accumulator, accuInit, ...parts, ...this.#node }
  }

  quantified({ target, args }: { target: Expr; args: readonly Expr[] }, what: 'all' | 'exists'): Expr {
    const variables = this.#variables(args, args.length - 1)
    const predicate = args.at(-1) as Expr
    const all = what === 'all'
    const goOn = all ? this.#accu() : this.#call('!_', [this.#accu()])
    return this.#fold(target, variables, this.#literal(all), {
      condition: this.#call('@not_strictly_false', [goOn]),
      step: this.#call(all ? '_&&_' : '_||_', [this.#accu(), predicate]),
      result: this.#accu(),
    })
  }

  one({ target, args }: { target: Expr; args: readonly Expr[] }): Expr {
    const variables = this.#variables(args, args.length - 1)
    const more = this.#call('_+_', [this.#accu(), this.#literal(1n)])
    return this.#fold(target, variables, this.#literal(0n), {
      condition: this.#literal(true),
      step: this.#call('_?_:_', [args.at(-1) as Expr, more, this.#accu()]),
      result: this.#call('_==_', [this.#accu(), this.#literal(1n)]),
    })
  }

  #collected(target: Expr, variables: [string, string | undefined], filter: Expr | undefined, item: Expr): Expr {
    const more = this.#call('_+_', [this.#accu(), this.#list(item)])
    return this.#fold(target, variables, this.#list(), {
      condition: this.#literal(true),
      step: filter ? this.#call('_?_:_', [filter, more, this.#accu()]) : more,
      result: this.#accu(),
    })
  }

  mapped({ target, args }: { target: Expr; args: readonly Expr[] }, filter: Expr | undefined): Expr {
    return this.#collected(target, this.#variables(args, 1), filter, args.at(-1) as Expr)
  }

  filtered({ target, args }: { target: Expr; args: readonly Expr[] }): Expr {
    const variables = this.#variables(args, 1)
    return this.#collected(target, variables, args[1], this.#ident(variables[0]))
  }

  transformed({ target, args }: { target: Expr; args: readonly Expr[] }, into: 'list' | 'map' | 'entry'): Expr {
    const variables = this.#variables(args, 2)
    const filter = args.length === 4 ? args[2] : undefined
    const item = args.at(-1) as Expr
    if (into === 'list') return this.#collected(target, variables, filter, item)
    const more =
      into === 'entry'
        ? this.#call('cel.@mapInsert', [this.#accu(), item])
        : this.#call('cel.@mapInsert', [this.#accu(), this.#ident(variables[0]), item])
    return this.#fold(
      target,
      variables,
      { kind: 'map', entries: [], ...this.#node },
      {
        condition: this.#literal(true),
        step: filter ? this.#call('_?_:_', [filter, more, this.#accu()]) : more,
        result: this.#accu(),
      },
    )
  }

  /** A range of nothing: `accuInit` is bound to the name while `result` is worked out. */
  #bind(name: string, value: Expr, result: Expr): Expr {
    return {
      kind: 'comprehension',
      range: this.#list(),
      iterVar: '#unused',
      iterVar2: undefined,
      accuVar: name,
      accuInit: value,
      condition: this.#literal(false),
      step: this.#ident(name),
      result,
      ...this.#node,
    }
  }

  optional({ target, args }: { target: Expr; args: readonly Expr[] }, wrap: boolean): Expr {
    const [name] = this.#variables(args, 1)
    const held = '@target'
    const value = this.#call('value', [], this.#ident(held))
    const body = this.#bind(name, value, args[1] as Expr)
    const result = this.#call('_?_:_', [
      this.#call('hasValue', [], this.#ident(held)),
      wrap ? this.#call('optional.of', [body]) : body,
      this.#call('optional.none', []),
    ])
    return this.#bind(held, target, result)
  }

  sortedBy({ target, args }: { target: Expr; args: readonly Expr[] }): Expr {
    const [name] = this.#variables(args, 1)
    const held = '@__sortBy_input__'
    const keys = this.#collected(this.#ident(held), [name, undefined], undefined, args[1] as Expr)
    return this.#bind(held, target, this.#call('@sortByAssociatedKeys', [keys], this.#ident(held)))
  }
}
