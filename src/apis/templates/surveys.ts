/**
 * Looks at every namespace when a template has changed: how many its new version selects, and where that would delete
 * something. No namespace that exists is begun before this is known. Then each that the change concerns is looked at
 * by itself.
 *
 *   template changes ──▶ every namespace, in slices of the loop ──▶ done: limits are known, the rollout may begin
 *                            ▲                                        │
 *   namespace changes,       │                                        ▼
 *   record changes ──────────┘ looked at again                  the namespaces that it concerns are enqueued, in slices
 *
 * Where the rollout is stopped because of what it would delete, changes are followed until it is not.
 */
import type { Turns } from '../../base/turns.ts'
import { Walks } from '../../base/walks.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { isSameVersion } from './ledger.ts'
import type { Matcher } from './match.ts'

export interface SurveysDeps {
  /** Default: its own. */
  readonly turns?: Turns | undefined
  readonly onError: (error: unknown) => void
  /** All that there are, as they are when asked for. */
  names(): Iterable<string>
  findNamespace(name: string): Namespace | undefined
  /** A version is counted anew: none is counted for it yet. */
  countAnew(version: Matcher): void
  count(version: Matcher, namespace: Namespace): void
  holds(version: Matcher, name: string): boolean
  /** Something could keep the version from deleting. */
  mayBeStopped(version: Matcher): boolean
  wouldPrune(version: Matcher, namespace: Namespace): boolean
  enqueue(name: string): void
  /** Some more have been looked at. */
  onProgress(version: Matcher): void
  /** True: it is stopped because of what it would delete, and is to hear when that changes. */
  onDone(version: Matcher, pruned: ReadonlySet<string>): boolean
}

interface Survey {
  readonly version: Matcher
  /** Versions that it replaced while their own namespaces were still to be enqueued. */
  readonly before: readonly Matcher[]
  readonly mayBeStopped: boolean
  /** Namespaces in which it would delete something. */
  readonly pruned: Set<string>
  /** To be looked at again. */
  readonly changed: Set<string>
  looked: number
  isDone: boolean
  isEnqueued: boolean
}

/** Namespaces between two words about how far it has come. */
const toldEach = 500

export class Surveys {
  readonly #deps: SurveysDeps
  /** Other looks at all namespaces may join. */
  readonly walks: Walks
  readonly #byTemplate = new Map<string, Survey>()
  /** Those that are to hear of changes. */
  readonly #following = new Set<Survey>()

  constructor(deps: SurveysDeps) {
    this.#deps = deps
    this.walks = new Walks(deps.onError, deps.turns)
  }

  /** This very template is looked at, or has been: a change of its annotations makes another. */
  isBegun({ template }: Matcher): boolean {
    return this.#byTemplate.get(nameOf(template.metadata))?.version.template === template
  }

  /** Every namespace that there is has been looked at. */
  isDone(version: Matcher): boolean {
    const survey = this.#byTemplate.get(templateName(version))
    return survey?.isDone === true && isSameVersion(survey.version, version)
  }

  /** How many have been looked at. */
  looked(template: string): number {
    return this.#byTemplate.get(template)?.looked ?? 0
  }

  /** All namespaces are enqueued in another way: at a start. */
  begin(version: Matcher): void {
    this.#begin({ ...this.#newSurvey(version, []), isEnqueued: true })
  }

  /** `before`: the version that it replaces. */
  change(version: Matcher, before: Matcher | undefined): void {
    const known = this.#byTemplate.get(templateName(version))
    const unfinished = known?.isEnqueued === false ? known.before : []
    this.#begin(this.#newSurvey(version, [...unfinished, ...(before === undefined ? [] : [before])]))
  }

  /** Of one that is gone, the namespaces that it concerned are enqueued all the same. */
  forget(template: string, before: Matcher | undefined): void {
    const known = this.#byTemplate.get(template)
    if (known !== undefined) this.#following.delete(known)
    this.#byTemplate.delete(template)
    const unfinished = known?.isEnqueued === false ? [...known.before, known.version] : []
    // A template of its name may come before all are enqueued: that is another walk.
    this.walks.begin({}, this.#enqueueAll([...unfinished, ...(before ? [before] : [])]))
  }

  /** The namespace, or what is recorded of it, has changed. */
  changed(name: string): void {
    for (const survey of this.#following) {
      survey.changed.add(name)
      if (survey.isDone) this.walks.again(`again ${templateName(survey.version)}`, this.#lookAgain(survey))
    }
  }

  #newSurvey(version: Matcher, before: readonly Matcher[]): Survey {
    const mayBeStopped = this.#deps.mayBeStopped(version)
    const empty = { pruned: new Set<string>(), changed: new Set<string>(), looked: 0 }
    return { version, before, mayBeStopped, ...empty, isDone: false, isEnqueued: false }
  }

  #begin(survey: Survey): void {
    const { version } = survey
    const template = templateName(version)
    const known = this.#byTemplate.get(template)
    if (known !== undefined) this.#following.delete(known)
    this.#byTemplate.set(template, survey)
    this.#following.add(survey)
    this.#deps.countAnew(version)
    this.walks.begin(`survey ${template}`, this.#survey(survey))
  }

  *#survey(survey: Survey): Generator<void> {
    const { version, before } = survey
    const versions = [...before, version]
    const concerned: string[] = []
    for (const name of this.#deps.names()) {
      const namespace = this.#look(survey, name)
      if (!survey.isEnqueued && namespace !== undefined && this.#concerns(versions, namespace)) concerned.push(name)
      if (++survey.looked % toldEach === 0) this.#deps.onProgress(version)
      yield
    }
    yield* this.#lookAgain(survey)
    for (const name of concerned) {
      this.#deps.enqueue(name)
      yield
    }
    survey.isEnqueued = true
  }

  *#lookAgain(survey: Survey): Generator<void> {
    for (const name of survey.changed) {
      survey.changed.delete(name)
      this.#look(survey, name)
      yield
    }
    // Another has taken its place.
    if (this.#byTemplate.get(templateName(survey.version)) !== survey) return
    survey.isDone = true
    if (!this.#deps.onDone(survey.version, survey.pruned)) this.#following.delete(survey)
  }

  #look({ version, pruned, mayBeStopped }: Survey, name: string): Namespace | undefined {
    const namespace = this.#deps.findNamespace(name)
    if (namespace !== undefined) this.#deps.count(version, namespace)
    const isPruned = mayBeStopped && namespace !== undefined && this.#deps.wouldPrune(version, namespace)
    if (isPruned) pruned.add(name)
    else pruned.delete(name)
    return namespace
  }

  #concerns(versions: readonly Matcher[], namespace: Namespace): boolean {
    if (versions.some((version) => version.selects(namespace))) return true
    const [version] = versions
    return version !== undefined && this.#deps.holds(version, nameOf(namespace.metadata))
  }

  *#enqueueAll(versions: readonly Matcher[]): Generator<void> {
    for (const name of this.#deps.names()) {
      const namespace = this.#deps.findNamespace(name)
      if (namespace !== undefined && this.#concerns(versions, namespace)) this.#deps.enqueue(name)
      yield
    }
  }
}

const templateName = ({ template }: Matcher): string => nameOf(template.metadata)
