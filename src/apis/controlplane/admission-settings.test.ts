/** Files for admission plugins that can't be used: one line, with the file and the field. And those that can. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookCertificates } from '../../../test/support/webhook-server.ts'
import { AdmissionConfigurationError } from '../../admission/admission-configuration.ts'
import { type AdmissionSettings, defaultAdmissionSettings, readAdmissionSettings } from './admission-settings.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-admission-settings-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}

const apiVersion = 'apiserver.config.k8s.io/v1'
const withPlugins = (...plugins: unknown[]): object => ({ apiVersion, kind: 'AdmissionConfiguration', plugins })

const read = async (content: unknown): Promise<AdmissionSettings> =>
  readAdmissionSettings(await file('admission.yaml', content))

/** The line, without the folder. */
async function refused(content: unknown): Promise<string> {
  const error: unknown = await read(content).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AdmissionConfigurationError)
  const { name, message } = error as Error
  expect(name).toBe('AdmissionConfigurationError')
  expect(message).not.toMatch(/\n|hunter2/)
  return message.replaceAll(`${folder}/`, '')
}

const security = (more: object): object => ({
  name: 'PodSecurity',
  configuration: { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration', ...more },
})
const quota = (...limitedResources: object[]): object => ({
  name: 'ResourceQuota',
  configuration: { apiVersion, kind: 'ResourceQuotaConfiguration', limitedResources },
})
const webhook = (more: object): object => ({
  name: 'MutatingAdmissionWebhook',
  configuration: { apiVersion, kind: 'WebhookAdmissionConfiguration', ...more },
})

const inline = "the admission configuration admission.yaml can't be used: "

/** All of kube-apiserver 1.36, in its order. */
const upstreamPlugins = [
  ...['AlwaysAdmit', 'NamespaceAutoProvision', 'NamespaceLifecycle', 'NamespaceExists'],
  ...['LimitPodHardAntiAffinityTopology', 'LimitRanger', 'ServiceAccount', 'NodeRestriction'],
  ...['NodeDeclaredFeatureValidator', 'TaintNodesByCondition', 'AlwaysPullImages', 'ImagePolicyWebhook'],
  ...['PodSecurity', 'PodNodeSelector', 'Priority', 'DefaultTolerationSeconds', 'PodTolerationRestriction'],
  ...['EventRateLimit', 'ExtendedResourceToleration', 'DefaultStorageClass', 'StorageObjectInUseProtection'],
  ...['OwnerReferencesPermissionEnforcement', 'PersistentVolumeClaimResize', 'RuntimeClass', 'CertificateApproval'],
  ...['CertificateSigning', 'ClusterTrustBundleAttest', 'CertificateSubjectRestriction', 'DefaultIngressClass'],
  ...['DenyServiceExternalIPs', 'PodTopologyLabels', 'JobValidation', 'PodGroupProtection', 'PodGroupWorkloadExists'],
  ...['PodResizeValidator', 'MutatingAdmissionPolicy', 'MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy'],
  ...['ValidatingAdmissionWebhook', 'ResourceQuota', 'AlwaysDeny'],
]

it('knows every plugin of upstream by its name', async () => {
  const settings = await read(withPlugins(...upstreamPlugins.map((name) => ({ name }))))
  expect(settings).toEqual(defaultAdmissionSettings)
})

describe('an admission configuration that', () => {
  const rows: { name: string; given: unknown; want: string }[] = [
    { name: 'is empty', given: '\n', want: `${inline}it is empty` },
    {
      name: 'is two documents',
      given: `${JSON.stringify(withPlugins())}\n---\n${JSON.stringify(withPlugins(quota()))}`,
      want: `${inline}it holds several YAML documents, and only one is read`,
    },
    {
      name: 'is of another kind',
      given: { apiVersion, kind: 'EncryptionConfiguration' },
      want:
        `${inline}it is no AdmissionConfiguration of apiserver.config.k8s.io/v1 or ` +
        'apiserver.config.k8s.io/v1alpha1',
    },
    {
      name: 'has a field of no meaning',
      given: { ...withPlugins(), plugin: [] },
      want: `${inline}plugin: there is no such field`,
    },
    {
      name: 'names a plugin of nowhere',
      given: withPlugins({ name: 'PodSecurty' }),
      want: `${inline}plugins[0].name: there is no admission plugin "PodSecurty"`,
    },
    {
      name: 'names a plugin twice',
      given: withPlugins(quota(), quota()),
      want: `${inline}plugins[1].name: ResourceQuota is there twice`,
    },
    {
      name: 'configures a plugin that this server lacks',
      given: withPlugins({ name: 'EventRateLimit', path: 'limits.yaml' }),
      want: `${inline}plugins[0].path: EventRateLimit takes no configuration in this server`,
    },
    {
      name: 'configures a plugin that takes nothing',
      given: withPlugins({ name: 'NamespaceLifecycle', configuration: {} }),
      want: `${inline}plugins[0].configuration: NamespaceLifecycle takes no configuration in this server`,
    },
    {
      name: 'has text for a configuration',
      given: withPlugins({ name: 'PodSecurity', configuration: 'strict' }),
      want: `${inline}plugins[0].configuration: it must be an object`,
    },
    {
      name: 'configures a plugin with the kind of another',
      given: withPlugins({ ...quota(), name: 'PodSecurity' }),
      want:
        `${inline}plugins[0].configuration: it is no PodSecurityConfiguration of ` +
        'pod-security.admission.config.k8s.io/v1 or pod-security.admission.config.k8s.io/v1beta1 or ' +
        'pod-security.admission.config.k8s.io/v1alpha1',
    },
    {
      name: 'names a file that is not there',
      given: withPlugins({ name: 'ResourceQuota', path: 'none.yaml' }),
      want: "can't read the configuration none.yaml of ResourceQuota (ENOENT)",
    },
    {
      name: 'has wrong levels, versions and exemptions',
      given: withPlugins(
        security({
          defaults: { enforce: 'strict', 'warn-version': '1.30' },
          exemptions: { usernames: ['', 'a', 'a'], namespaces: ['Team'], runtimeClasses: ['a_b'] },
        }),
      ),
      want:
        `${inline}[plugins[0].configuration.defaults.enforce: Invalid value: "strict": must be one of privileged, ` +
        'baseline, restricted, plugins[0].configuration.defaults.warn-version: Invalid value: "1.30": must be ' +
        '"latest" or "v1.x", plugins[0].configuration.exemptions.namespaces[0]: Invalid value: "Team": a lowercase ' +
        "RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?'), plugins[0].configuration.exemptions.runtimeClasses[0]: Invalid value: " +
        "\"a_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
        "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), " +
        'plugins[0].configuration.exemptions.usernames[0]: Invalid value: "": username must not be empty, ' +
        'plugins[0].configuration.exemptions.usernames[2]: Duplicate value: "a"]',
    },
    {
      name: 'misspells a mode of PodSecurity',
      given: withPlugins(security({ defaults: { enforced: 'baseline' } })),
      want: `${inline}plugins[0].configuration.defaults.enforced: there is no such field`,
    },
    {
      name: 'limits no resource, and by scopes of nowhere',
      given: withPlugins(quota({ matchScopes: [{ scopeName: 'Best', operator: 'Is' }] })),
      want:
        `${inline}[plugins[0].configuration.limitedResources[0].matchScopes[0].scopeName: Unsupported value: "Best": ` +
        'supported values: "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", ' +
        '"PriorityClass", "Terminating", "VolumeAttributesClass", ' +
        'plugins[0].configuration.limitedResources[0].matchScopes[0].operator: Unsupported value: "Is": supported ' +
        'values: "DoesNotExist", "Exists", "In", "NotIn", ' +
        'plugins[0].configuration.limitedResources[0].resource: Required value]',
    },
    {
      name: 'names a kubeconfig from nowhere in particular',
      given: withPlugins(webhook({ kubeConfigFile: 'hooks.kubeconfig' })),
      want:
        `${inline}plugins[0].configuration.kubeConfigFile: Invalid value: "hooks.kubeconfig": ` +
        'must be an absolute file path',
    },
    {
      name: 'wants webhooks from files',
      given: withPlugins(webhook({ staticManifestsDir: '/etc/hooks' })),
      want:
        `${inline}plugins[0].configuration.staticManifestsDir: Forbidden: staticManifestsDir requires the ` +
        'ManifestBasedAdmissionControlConfig feature gate to be enabled',
    },
  ]
  it.each(rows)('$name', async ({ given, want }) => {
    expect(await refused(given)).toBe(want)
  })
})

describe('a kubeconfig for webhooks that', () => {
  const users = (user: object): object => ({ users: [{ name: '*', user }] })
  const unusable = "the kubeconfig for webhooks hooks.kubeconfig can't be used: "
  const rows: { name: string; given: unknown; mode?: number; want: string }[] = [
    { name: 'is not YAML', given: 'users: [hunter2', want: `${unusable}it is not YAML` },
    { name: 'has no list of users', given: { users: {} }, want: `${unusable}users: it must be a list` },
    {
      name: 'wants a program to be run',
      given: users({ exec: { command: 'hunter2' } }),
      want: `${unusable}users[0].user.exec: it is not supported for webhooks`,
    },
    {
      name: 'has a token beside a password',
      given: users({ token: 'hunter2', username: 'a' }),
      want: `${unusable}users[0].user: it must be a token or a username and password, not both`,
    },
    {
      name: 'has a certificate without its key',
      given: users({ 'client-certificate': 'tls.crt' }),
      want: `${unusable}users[0].user: a client certificate needs its key, and the key its certificate`,
    },
    {
      name: 'has a certificate that is none',
      given: users({ 'client-certificate-data': 'aHVudGVyMg==', 'client-key-data': 'aHVudGVyMg==' }),
      want: `${unusable}users[0]: its client certificate and key can't be used together (ERR_OSSL_PEM_NO_START_LINE)`,
    },
    {
      name: 'names a file that is not there',
      given: users({ tokenFile: 'none' }),
      want: `${unusable}none can't be read (ENOENT)`,
    },
    { name: 'is empty', given: '\n', want: `${unusable}it is empty` },
    {
      name: 'is two documents',
      given: 'users: []\n---\nusers: []',
      want: `${unusable}it holds several YAML documents, and only one is read`,
    },
    { name: 'is a list', given: '[]', want: `${unusable}it must be an object` },
    {
      name: 'has a certificate that is no base64',
      given: users({ 'client-certificate-data': '!!!', 'client-key-data': 'aHVudGVyMg==' }),
      want: `${unusable}users[0].user.client-certificate-data: it is not base64`,
    },
    {
      name: 'has a token of two lines',
      given: users({ token: 'hunter2\nX-Remote-User: root' }),
      want: `${unusable}users[0]: its token holds a line break, or another character that no header can have`,
    },
    {
      name: 'has two users of one name',
      given: { users: ['a', 'b'].map((token) => ({ name: '*', user: { token } })) },
      want: `${unusable}users[1].name: "*" is there twice`,
    },
    {
      name: 'holds a secret that every user can read',
      given: users({ token: 'hunter2' }),
      mode: 0o644,
      want: 'hooks.kubeconfig holds a secret and is open to every user (mode 644): run: chmod o= hooks.kubeconfig',
    },
  ]
  it.each(rows)('$name', async ({ given, mode = 0o600, want }) => {
    const kubeConfigFile = await file('hooks.kubeconfig', given)
    await chmod(kubeConfigFile, mode)
    expect(await refused(withPlugins(webhook({ kubeConfigFile })))).toBe(want)
  })

  it('is not there is told, too', async () => {
    const kubeConfigFile = join(folder, 'none.kubeconfig')
    expect(await refused(withPlugins(webhook({ kubeConfigFile })))).toBe(
      "the kubeconfig for webhooks none.kubeconfig can't be used: ENOENT",
    )
  })

  it('names a certificate and its key by paths of its own folder is good', async () => {
    const { key, cert } = webhookCertificates(['client'])
    await file('tls.crt', cert)
    await file('tls.key', key)
    const user = { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' }
    const kubeConfigFile = await file('hooks.kubeconfig', users(user))
    const { webhookKubeconfigs } = await read(withPlugins(webhook({ kubeConfigFile })))
    expect(await webhookKubeconfigs.mutating?.users.get('*')?.credentials()).toEqual({ cert, key })
    expect(webhookKubeconfigs.validating).toBeUndefined()
  })
})

describe('an admission configuration', () => {
  it('without plugins, or with plugins that it says nothing of, is as none', async () => {
    expect(await read(withPlugins())).toEqual(defaultAdmissionSettings)
    expect(await read(withPlugins({ name: 'AlwaysPullImages' }, { name: 'PodSecurity' }))).toEqual(
      defaultAdmissionSettings,
    )
    expect(await readAdmissionSettings(undefined)).toBe(defaultAdmissionSettings)
  })

  it('takes the configuration that stands in it before the file that it names, and older versions', async () => {
    const v1beta1 = { apiVersion: 'resourcequota.admission.k8s.io/v1beta1', kind: 'Configuration' }
    const limitedResources = [{ apiGroup: 'apps', resource: 'deployments', matchContains: ['count/'] }]
    const given = { name: 'ResourceQuota', path: 'none.yaml', configuration: { ...v1beta1, limitedResources } }
    expect((await read(withPlugins(given))).limitedResources).toEqual([
      { group: 'apps', resource: 'deployments', matchContains: ['count/'], matchScopes: [] },
    ])
  })
})
