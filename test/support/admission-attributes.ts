/** A write as an admission plugin is asked about it, and an authorizer that knows a list of rights. */
import type { Attributes } from '../../src/admission/admission.ts'
import type { Authorizer, AuthzAttributes } from '../../src/authz/authz.ts'
import { badRequest } from '../../src/kube/status-error.ts'
import type { UserInfo } from '../../src/kube/user.ts'

export const alice: UserInfo = { username: 'alice', groups: ['devs'] }

/** Of an object in namespace `team` that alice creates, unless it says otherwise. */
export function attributesOf(about: Omit<Partial<Attributes>, 'type'> & { readonly type: object }): Attributes {
  const { object, oldObject } = about
  const name = (object ?? oldObject)?.metadata.name ?? ''
  return {
    ...{ operation: 'CREATE', subresource: '', namespace: 'team', name, object, oldObject, user: alice },
    ...{ dryRun: false, options: {}, warn() {}, annotate() {}, caller: { signal: new AbortController().signal } },
    ...about,
  } as Attributes
}

export class Rights implements Authorizer {
  readonly asked: string[] = []
  readonly #held: readonly string[]

  /** Each as it is asked for: `<verb> <group>/<version>/<resource>/<sub-resource> <namespace>/<name>`. */
  constructor(...held: string[]) {
    this.#held = held
  }

  authorize(a: AuthzAttributes): { allowed: boolean; reason: string } {
    if (a.path !== undefined) throw badRequest('no plugin asks about paths')
    const text = `${a.verb} ${a.group}/${a.version}/${a.resource}/${a.subresource} ${a.namespace}/${a.name}`
    this.asked.push(`${a.user.username}: ${text}`)
    return { allowed: this.#held.includes(text), reason: 'no rule says so' }
  }

  rulesFor(): never {
    throw badRequest('no plugin asks for all rules')
  }
}
