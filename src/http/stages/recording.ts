/** The audit log, and the events that are made for it later: from what the rest of the server is made of. */
import { type AuditOptions, type OpenAudit, openAudit } from '../../audit/open-audit.ts'
import type { Log } from '../../base/log.ts'
import type { Turns } from '../../base/turns.ts'
import type { Defense } from '../overload.ts'
import { LateRecords } from './late-records.ts'
import type { StagesOptions } from './stages.ts'

interface Server {
  readonly turns: Turns
  readonly config: { readonly log: Log }
}

export class Recording {
  readonly sink: OpenAudit['sink']
  readonly #audit: OpenAudit

  private constructor(audit: OpenAudit) {
    this.#audit = audit
    this.sink = audit.sink
  }

  /** undefined: no audit log is asked for. @throws AuditPolicyError, PrivateFileError */
  static async open(options: AuditOptions): Promise<Recording | undefined> {
    const audit = await openAudit(options)
    return audit && new Recording(audit)
  }

  /** What waits is recorded when `opened` is disposed of: before the sink is, which is older. */
  stage({ turns, config }: Server, { incidents }: Defense, opened: AsyncDisposableStack): StagesOptions['audit'] {
    const { policy, sink } = this.#audit
    const onFault = (error: unknown): void =>
      config.log.error({ error }, 'an audit event could not be made: it is lost')
    return { policy, sink, late: opened.use(new LateRecords({ turns, sink, incidents, onFault })) }
  }
}
