/**
 * What the `x-kubernetes-validations` of a definition may say: form, whether they compile against the types of the
 * schema, and what they can cost at worst.
 *
 * The cost of a rule is counted as often as its value can be in an object: the product of the limits of all lists and
 * maps around it, or, if one of them has none, of how many fit into a request.
 * @see k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/{validation,cel_validation}.go v0.36
 */
import { append } from '../../base/append.ts'
import { inBatches, type Resumable } from '../../base/resumable.ts'
import { estimateCost } from '../../cel/cost-estimate.ts'
import { type DeclaredType, declareSchema, escapeName, maxCardinality } from '../../cel/declared-type.ts'
import { compiledAtOnce } from '../../cel/environment.ts'
import { normalizedFieldPath } from '../../cel/field-path.ts'
import { type CompiledRule, compileRule, hasRules } from '../../cel/object-rules.ts'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { Schema, ValidationRule } from '../../kube/schema/schema.ts'
import type { JsonObject } from '../../kube/types.ts'

const costPerRule = 10_000_000
const costPerDefinition = 100_000_000
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const mostExpensive = 4

/** `compiles` false: the schema has other faults, so only the form is judged. */
export function* validationRuleErrors(
  root: Schema,
  given: JsonObject,
  path: string,
  compiles: boolean,
): Resumable<FieldError[]> {
  if (!hasRules(root)) return []
  const judge = new Judge(compiles)
  const shown = restrictedToNames(root, given)
  yield* judge.visit(shown, {
    path,
    declared: compiles ? declareSchema(shown, { isRoot: true, name: 'selfType' }) : undefined,
    cardinality: 1,
    uncorrelated: undefined,
  })
  return judge.errors(path)
}

/** Only what the definition itself says of metadata. */
function restrictedToNames(root: Schema, given: JsonObject): Schema {
  const properties = new Map(root.properties)
  if (!isJsonObject(given['properties']) || given['properties']['metadata'] === undefined) properties.delete('metadata')
  return { ...root, properties }
}

interface Place {
  readonly path: string
  readonly declared: DeclaredType | undefined
  /** How often it can be there; undefined = something around it has no limit. */
  readonly cardinality: number | undefined
  /** The list or map around it whose parts can't be told apart between two versions of an object. */
  readonly uncorrelated: string | undefined
}

class Judge {
  readonly #compiles: boolean
  readonly #form: FieldError[] = []
  readonly #expressions: FieldError[] = []
  readonly #costs: { readonly path: string; readonly cost: number }[] = []

  constructor(compiles: boolean) {
    this.#compiles = compiles
  }

  errors(path: string): FieldError[] {
    const errors = [...this.#form, ...(this.#form.length === 0 ? this.#expressions : [])]
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0)
    if (this.#form.length > 0 || total <= costPerDefinition) return errors
    const worst = this.#costs.toSorted((a, b) => b.cost - a.cost).slice(0, mostExpensive)
    const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...errors,
      ...worst.map((w) => fieldForbidden(w.path, contributed)),
      fieldForbidden(path, exceeds(what, total, costPerDefinition)),
    ]
  }

  *visit(schema: Schema, place: Place): Resumable<void> {
    for (const [name, child] of schema.properties ?? []) {
      yield* this.visit(child, {
        path: `${place.path}.properties[${name}]`,
        declared: this.#child(place.declared, name, child),
        cardinality: place.cardinality,
        uncorrelated: place.uncorrelated,
      })
      yield
    }
    const { items, additionalProperties, maxItems, maxProperties } = schema
    const within = (most: number | undefined): number | undefined =>
      most === undefined || place.cardinality === undefined ? undefined : Math.max(0, most) * place.cardinality
    if (typeof additionalProperties === 'object') {
      yield* this.visit(additionalProperties, {
        path: `${place.path}.additionalProperties`,
        declared: place.declared?.value,
        cardinality: within(maxProperties),
        uncorrelated: place.uncorrelated,
      })
    }
    if (items) {
      yield* this.visit(items, {
        path: `${place.path}.items`,
        declared: place.declared?.items,
        cardinality: within(maxItems),
        uncorrelated: place.uncorrelated ?? (schema.listType === 'map' ? undefined : place.path),
      })
    }
    yield* inBatches(schema.validations ?? [], compiledAtOnce, (rule, i) => {
      const at = `${place.path}.x-kubernetes-validations[${i}]`
      append(this.#form, formErrors(rule, schema, at))
      if (this.#compiles && this.#form.length === 0) this.#compile(rule, schema, { ...place, path: at })
    })
  }

  #child(of: DeclaredType | undefined, name: string, child: Schema): DeclaredType | undefined {
    if (!this.#compiles) return undefined
    // What has no name in expressions can still have rules about itself.
    if (escapeName(name) !== undefined && of) return of.byJsonName?.get(name)
    return declareSchema(child, { isRoot: child.embeddedResource === true, name: `selfType.${name}` })
  }

  #compile(rule: ValidationRule, schema: Schema, place: Place): void {
    const { path, declared } = place
    if (!declared) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to ' +
        'convert structural schema to CEL declarations'
      this.#expressions.push({
        type: 'InternalError',
        field: path.replace(/\[\d+\]$/, ''),
        body: `Internal error: ${detail}`,
      })
      return
    }
    const compiled = compileRule(rule, schema, declared)
    if (compiled.program) {
      const cost =
        estimateCost(compiled.program.checked, declared).max * (place.cardinality ?? maxCardinality(declared))
      if (cost > costPerRule) {
        this.#expressions.push(fieldForbidden(`${path}.rule`, exceeds('estimated rule cost', cost, costPerRule)))
      }
      this.#costs.push({ path: `${path}.rule`, cost })
    }
    if (compiled.problem !== undefined) {
      this.#expressions.push(fieldInvalid(`${path}.rule`, shownRule(rule), compiled.problem))
    }
    if (compiled.messageProblem !== undefined) {
      this.#expressions.push(fieldInvalid(`${path}.messageExpression`, shownRule(rule), compiled.messageProblem))
    }
    if (compiled.message) this.#messageCost(compiled, declared, path)
    this.#oldSelf(compiled, place)
  }

  #messageCost({ message }: CompiledRule, declared: DeclaredType, path: string): void {
    if (!message) return
    const field = `${path}.messageExpression`
    const cost = estimateCost(message.checked, declared).max
    if (cost > costPerRule) {
      this.#expressions.push(fieldForbidden(field, exceeds('estimated messageExpression cost', cost, costPerRule)))
    }
    this.#costs.push({ path: field, cost })
  }

  #oldSelf({ rule, usesOldSelf }: CompiledRule, { path, uncorrelated }: Place): void {
    if (usesOldSelf && uncorrelated !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
      this.#expressions.push(fieldInvalid(`${path}.rule`, rule.rule, detail))
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule'
      this.#expressions.push(fieldInvalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail))
    }
  }
}

/** Upstream prints its own form of a rule. */
const shownRule = (rule: ValidationRule): object => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
})

const hasNewline = (text: string): boolean => /[\n\r]/.test(text)

function formErrors(rule: ValidationRule, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { message, messageExpression, reason, fieldPath } = rule
  const trimmed = (message ?? '').trim()
  if (rule.rule.trim() === '') errors.push(fieldRequired(`${path}.rule`, 'rule is not specified'))
  else if (message && trimmed === '') {
    errors.push(fieldInvalid(`${path}.message`, message, 'must be non-empty if specified'))
  } else if (hasNewline(trimmed)) {
    errors.push(fieldInvalid(`${path}.message`, message, 'must not contain line breaks'))
  } else if (hasNewline(rule.rule.trim()) && trimmed === '') {
    errors.push(fieldRequired(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression && messageExpression.trim() === '') {
    errors.push(fieldRequired(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(fieldNotSupported(`${path}.reason`, reason, reasons))
  }
  if (!fieldPath) return errors
  const field = `${path}.fieldPath`
  if (fieldPath.trim() === '') errors.push(fieldInvalid(field, fieldPath, 'must be non-empty if specified'))
  if (hasNewline(fieldPath)) errors.push(fieldInvalid(field, fieldPath, 'must not contain line breaks'))
  if (normalizedFieldPath(fieldPath, schema) === undefined) {
    errors.push(fieldInvalid(field, fieldPath, 'must be a valid path'))
  }
  return errors
}

function exceeds(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return (
    `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, ` +
    'maxProperties, and maxLength where arrays, maps, and strings are declared)'
  )
}
