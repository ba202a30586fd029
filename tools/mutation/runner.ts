/**
 * Runs tests with one mutant on, and stops at the first that fails; or with none on, and notes for each test which
 * mutants it reached. What a file reaches while it is loaded and in hooks around several tests is noted on the file.
 */
import { inject, type RunnerTask, type SerializedConfig, TestRunner } from 'vitest'
import { append } from '../../src/base/append.ts'
import { switches } from './instrument.ts'

export interface RunOrder {
  readonly active: number
  readonly record: boolean
}

declare module 'vitest' {
  export interface ProvidedContext {
    mutation: RunOrder
  }

  interface TaskMeta {
    /** Numbers of the mutants that were reached: by a test, or by its file outside of tests. */
    reached?: number[]
    /** Those that were reached while modules were loaded. */
    loaded?: number[]
  }
}

type Suite = Parameters<TestRunner['onAfterRunSuite']>[0]

export default class MutationRunner extends TestRunner {
  readonly #switches = switches()
  readonly #record: boolean
  readonly #loaded: number[] = []

  constructor(config: SerializedConfig) {
    super(config)
    const { active, record } = inject('mutation')
    this.#record = record
    this.#switches.active = active
    this.#switches.asked = record ? new Set() : undefined
  }

  override async importFile(...given: Parameters<TestRunner['importFile']>): Promise<unknown> {
    const imported = await super.importFile(...given)
    append(this.#loaded, this.#take())
    return imported
  }

  override async onBeforeRunSuite(suite: Suite): Promise<void> {
    await super.onBeforeRunSuite(suite)
    if (this.#record) suite.file.meta.loaded = this.#loaded
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test)
    if (this.#record) this.#note(test.file)
  }

  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test)
    if (this.#record) this.#note(test)
    else if (test.result?.state === 'fail') this.cancel('test-failure')
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    if (this.#record) this.#note(suite.file)
    await super.onAfterRunSuite(suite)
  }

  #note({ meta }: RunnerTask): void {
    const reached = this.#take()
    if (reached.length > 0) meta.reached = [...new Set([...(meta.reached ?? []), ...reached])]
  }

  #take(): number[] {
    const { asked } = this.#switches
    if (asked === undefined) return []
    const taken = [...asked]
    asked.clear()
    return taken
  }
}
