/** Who may do what in a namespace, through which binding; and why one may not. */
import { useSignal } from '@preact/signals'
import {
  type Binding,
  type ClusterRole,
  clusterRoleBindingsResource,
  clusterRolesResource,
  type Role,
  roleBindingsResource,
  rolesResource,
} from '../../../kube/rbac.ts'
import { useFeed } from '../use-cluster.ts'
import { useFirst } from '../widgets/first.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { beginningOf, Words } from '../widgets/words.tsx'
import { type AccessRow, accessRows } from './access-rows.ts'
import { bindersOf } from './next-step.ts'
import { OwnAccess } from './own-access.tsx'
import { WhyDenied } from './why-denied.tsx'

interface AccessProps {
  readonly namespace: string
  /** Whom it is for; '' = not known. */
  readonly owner: string
}

export function Access({ namespace, owner }: AccessProps) {
  const roleBindings = useFeed<Binding>({ resource: roleBindingsResource, namespace })
  const roles = useFeed<Role>({ resource: rolesResource, namespace })
  const clusterRoleBindings = useFeed<Binding>({ resource: clusterRoleBindingsResource })
  const clusterRoles = useFeed<ClusterRole>({ resource: clusterRolesResource })
  const objects = {
    roleBindings: roleBindings.objects,
    roles: roles.objects,
    clusterRoleBindings: clusterRoleBindings.objects,
    clusterRoles: clusterRoles.objects,
  }
  const rows = accessRows(objects)
  return (
    <>
      <WhyDenied namespace={namespace} owner={owner} binders={bindersOf(objects)} />
      <OwnAccess key={namespace} namespace={namespace} />
      <section class="panel" aria-labelledby="who">
        <h2 id="who">Who may do what</h2>
        {roleBindings.refused === undefined ? null : <Refusal error={roleBindings.refused} />}
        {clusterRoleBindings.refused === undefined ? null : (
          <p class="muted">
            You may not read ClusterRoleBindings, so what they give in every namespace is not shown here.
          </p>
        )}
        {rows.length === 0 ? (
          <p class="muted">{roleBindings.ready ? 'No binding gives anything here.' : 'Asking…'}</p>
        ) : (
          <>
            {clusterRoles.refused === undefined ? null : (
              <p class="muted">
                You may not read ClusterRoles. What they give to you is told above, under <em>What you may do here</em>.
              </p>
            )}
            <AccessTable rows={rows} />
          </>
        )}
      </section>
    </>
  )
}

function AccessTable({ rows }: { readonly rows: readonly AccessRow[] }) {
  const { most, more } = useFirst(rows.length)
  return (
    <>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Who</th>
            <th scope="col">Role</th>
            <th scope="col">Through</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map(({ subject, role, binding, isClusterWide, rules }) => (
            <tr key={`${subject} ${binding} ${role}`}>
              <th scope="row">
                <Words text={subject} />
              </th>
              <td>
                {rules === undefined ? (
                  <>
                    <Words text={role} /> <span class="muted">(you may not read it, or it is not there)</span>
                  </>
                ) : (
                  <RoleRules role={role} rules={rules} />
                )}
              </td>
              <td>
                <Words text={binding} />
                {isClusterWide ? <span class="muted"> in every namespace</span> : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  )
}

/** A role may have ten thousand rules, and a binding as many subjects: they are shown when they are asked for. */
function RoleRules({ role, rules }: { readonly role: string; readonly rules: readonly string[] }) {
  const isOpen = useSignal(false)
  const { most, more } = useFirst(rules.length)
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>
        <bdi>{beginningOf(role)}</bdi>
      </summary>
      {isOpen.value ? (
        <>
          <ul class="rules">
            {rules.slice(0, most).map((rule) => (
              <li key={rule}>
                <Words text={rule} />
              </li>
            ))}
          </ul>
          {more}
        </>
      ) : null}
    </details>
  )
}
