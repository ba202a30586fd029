/** Writes a kubeconfig: one cluster, one user, one context, everything inline, so that the file can be moved. */

export type UserCredential =
  /** PEM */
  { readonly cert: string; readonly key: string } | { readonly token: string }

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  /** PEM */
  readonly caCert: string
  readonly credential: UserCredential
  readonly clusterName?: string
  readonly userName?: string
  readonly contextName?: string
  readonly namespace?: string
}

/** YAML; ends with a line break. Holds a secret: write it with `writePrivateFile`. */
export function kubeconfigYaml(options: KubeconfigOptions): string {
  const cluster = scalar(options.clusterName ?? 'borough')
  const user = scalar(options.userName ?? 'admin')
  const context = scalar(options.contextName ?? options.clusterName ?? 'borough')
  const { credential } = options
  const secret =
    'token' in credential
      ? [`    token: ${scalar(credential.token)}`]
      : [`    client-certificate-data: ${base64(credential.cert)}`, `    client-key-data: ${base64(credential.key)}`]
  return `${[
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${cluster}`,
    '  cluster:',
    `    certificate-authority-data: ${base64(options.caCert)}`,
    `    server: ${scalar(options.server)}`,
    'users:',
    `- name: ${user}`,
    '  user:',
    ...secret,
    'contexts:',
    `- name: ${context}`,
    '  context:',
    `    cluster: ${cluster}`,
    ...(options.namespace === undefined ? [] : [`    namespace: ${scalar(options.namespace)}`]),
    `    user: ${user}`,
    `current-context: ${context}`,
  ].join('\n')}\n`
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Words that YAML 1.1 or 1.2 would read as something else than a string. */
const reserved = /^(y|n|yes|no|on|off|true|false|null)$/i

/** A JSON string is a YAML string; plain words need no quotes. */
const scalar = (text: string): string =>
  (/^[A-Za-z][\w-]*$/.test(text) && !reserved.test(text)) || /^https:\/\/[\w.:[\]-]+$/.test(text)
    ? text
    : JSON.stringify(text)
