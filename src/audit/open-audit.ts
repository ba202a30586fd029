/** The audit log of a configuration, on real files. */
import { rename } from 'node:fs/promises'
import { readBoundedFile } from '../base/bounded-file.ts'
import type { Log } from '../base/log.ts'
import { openPrivateForAppend } from '../base/private-files.ts'
import type { RelayPort } from '../base/relay-port.ts'
import type { AuditPolicy, AuditSink } from './audit.ts'
import { type AuditCounts, type AuditFiles, AuditLog } from './audit-log.ts'
import { RelayedAudit } from './audit-relay.ts'
import { AuditPolicyError, defaultAuditPolicy, parseAuditPolicy } from './policy.ts'

export interface AuditConfig {
  readonly path: string
  /** Absent = who did what, without bodies. */
  readonly policyPath?: string
  readonly maxBytes: number
  /** Rotated files beside the current one. */
  readonly keep: number
}

export interface OpenAudit {
  readonly policy: AuditPolicy
  readonly sink: AuditSink & AsyncDisposable & { readonly counts: AuditCounts }
}

export interface AuditOptions {
  /** Absent = no audit log. */
  readonly audit?: AuditConfig
  /** In a group of workers: the way to the primary, which writes for all. */
  readonly group?: { readonly audit: RelayPort }
  readonly log: Log
}

/** Undefined = none is asked for. @throws AuditPolicyError, PrivateFileError */
export async function openAudit({ audit, group, log }: AuditOptions): Promise<OpenAudit | undefined> {
  if (audit === undefined) return undefined
  const { policyPath } = audit
  const policy = policyPath === undefined ? parseAuditPolicy(defaultAuditPolicy) : await readPolicy(policyPath)
  if (group === undefined) return { policy, sink: await openAuditLog(audit, log) }
  const onTrouble = (error: unknown): void => {
    if (error === undefined) log.warn({}, 'audit events are taken again')
    else log.error({ error }, 'audit events are lost and counted')
  }
  return { policy, sink: new RelayedAudit(group.audit, onTrouble) }
}

/** The file itself. @throws PrivateFileError */
export async function openAuditLog({ path, maxBytes, keep }: AuditConfig, log: Log): Promise<AuditLog> {
  const onTrouble = (error: unknown, lost: number): void => {
    if (error === undefined) log.warn({ path, lost }, 'the audit log is written again')
    else log.error({ error, path }, 'the audit log can not be written; events are lost and counted until it can')
  }
  return AuditLog.open({ path, maxBytes, keep, files: auditFiles, onTrouble })
}

async function readPolicy(path: string): Promise<AuditPolicy> {
  let text: string
  try {
    text = (await readBoundedFile(path)).toString()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new AuditPolicyError(`can't read the audit policy ${path} (${code})`, { cause: error })
  }
  try {
    return parseAuditPolicy(text)
  } catch (error) {
    if (error instanceof AuditPolicyError) throw new AuditPolicyError(`${path}: ${error.message}`, { cause: error })
    throw error
  }
}

export const auditFiles: AuditFiles = {
  async open(path) {
    const file = await openPrivateForAppend(path)
    const { size } = await file.stat()
    return {
      sizeBytes: size,
      append: (bytes) => file.appendFile(bytes),
      close: () => file.close(),
    }
  },
  async rename(from, to) {
    try {
      await rename(from, to)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  },
}
