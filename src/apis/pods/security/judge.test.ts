/** Every check at every version, in upstream's words. The pods are upstream's fixtures in short. */
import { describe, expect, it } from 'vitest'
import { baselineChecks } from './baseline-checks.ts'
import { judge, printFindings } from './judge.ts'
import type { JudgedContainer, JudgedPod, PodSpec } from './judged-pod.ts'
import type { LevelVersion } from './pod-policy.ts'
import { restrictedChecks } from './restricted-checks.ts'

type Context = NonNullable<JudgedContainer['securityContext']>

/** Nothing is forbidden to it, at any version. */
const careful: Context = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

const without = (field: keyof Context): Context =>
  Object.fromEntries(Object.entries(careful).filter(([key]) => key !== field))

const pod = (spec: PodSpec, annotations: Record<string, string> = {}): JudgedPod => ({
  metadata: { annotations },
  spec,
})
const one = (securityContext: Context): JudgedPod => pod({ containers: [{ name: 'a', securityContext }] })
const carefulWith = (context: Context): JudgedPod => one({ ...careful, ...context })
const carefulPod = (spec: PodSpec): JudgedPod => pod({ containers: [{ name: 'a', securityContext: careful }], ...spec })
const bare: JudgedContainer = { name: 'a' }

interface Case {
  readonly name: string
  readonly level: 'baseline' | 'restricted'
  readonly pod: JudgedPod
  /** From which minor version on which answer is given; '' = allowed. */
  readonly said: readonly (readonly [minor: number, answer: string])[]
}

const always = (answer: string): Case['said'] => [[0, answer]]
const since = (minor: number, answer: string): Case['said'] => [
  [0, ''],
  [minor, answer],
]

const cases: readonly Case[] = [
  { name: 'a pod that says nothing', level: 'baseline', pod: pod({ containers: [bare] }), said: always('') },
  { name: 'a careful pod', level: 'restricted', pod: carefulPod({}), said: always('') },
  { name: 'no spec', level: 'restricted', pod: {}, said: always('') },

  {
    name: 'AppArmor profiles of pod, containers and annotations',
    level: 'baseline',
    pod: pod(
      {
        securityContext: { appArmorProfile: { type: 'Unconfined' } },
        containers: [{ name: 'a', securityContext: { appArmorProfile: { type: 'Other' } } }, { name: 'b' }],
      },
      {
        'container.apparmor.security.beta.kubernetes.io/b': 'unconfined',
        'container.apparmor.security.beta.kubernetes.io/a': 'bad',
      },
    ),
    said: always(
      'forbidden AppArmor profiles (pod and container "a" and annotations must not set AppArmor profile type ' +
        'to "Other", "Unconfined", "container.apparmor.security.beta.kubernetes.io/a="bad"", ' +
        '"container.apparmor.security.beta.kubernetes.io/b="unconfined"")',
    ),
  },
  {
    name: 'one AppArmor annotation',
    level: 'baseline',
    pod: pod({ containers: [bare] }, { 'container.apparmor.security.beta.kubernetes.io/a': 'unconfined' }),
    said: always(
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to ' +
        '"container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
    ),
  },
  {
    name: 'safe AppArmor profiles',
    level: 'baseline',
    pod: pod(
      {
        securityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'a', securityContext: { appArmorProfile: { type: 'Localhost' } } }],
      },
      {
        'container.apparmor.security.beta.kubernetes.io/a': 'runtime/default',
        'container.apparmor.security.beta.kubernetes.io/b': 'localhost/mine',
        'container.apparmor.security.beta.kubernetes.io/c': '',
      },
    ),
    said: always(''),
  },

  {
    name: 'capabilities that are not default',
    level: 'baseline',
    pod: pod({
      initContainers: [{ name: 'i', securityContext: { capabilities: { add: ['NET_RAW', 'KILL'] } } }],
      containers: [{ name: 'a', securityContext: { capabilities: { add: ['chown', 'CAP_CHOWN'] } } }],
    }),
    said: always(
      'non-default capabilities (containers "i", "a" must not include "CAP_CHOWN", "NET_RAW", "chown" in ' +
        'securityContext.capabilities.add)',
    ),
  },
  {
    name: 'all default capabilities',
    level: 'baseline',
    pod: one({
      capabilities: {
        add: [
          ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
          ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
        ],
      },
    }),
    said: always(''),
  },
  {
    name: 'capabilities, restricted: other words for the same since 1.22',
    level: 'restricted',
    pod: carefulWith({ capabilities: { drop: ['KILL'], add: ['NET_RAW', 'KILL', 'NET_BIND_SERVICE'] } }),
    said: [
      [0, 'non-default capabilities (container "a" must not include "NET_RAW" in securityContext.capabilities.add)'],
      [
        22,
        'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; ' +
          'container "a" must not include "KILL", "NET_RAW" in securityContext.capabilities.add)',
      ],
    ],
  },
  {
    name: 'one capability that may be added',
    level: 'restricted',
    pod: carefulWith({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
    said: always(''),
  },

  {
    name: 'namespaces of the host',
    level: 'baseline',
    pod: pod({ hostNetwork: true, hostPID: true, hostIPC: true }),
    said: always('host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)'),
  },
  {
    name: 'namespaces of its own, said so',
    level: 'baseline',
    pod: pod({ hostNetwork: false, hostPID: false, hostIPC: false }),
    said: always(''),
  },

  {
    name: 'paths of the host',
    level: 'baseline',
    pod: pod({
      volumes: [
        { name: 'v', hostPath: { path: '/a' } },
        { name: 'e', emptyDir: {} },
        { name: 'w', hostPath: { path: '/' } },
      ],
    }),
    said: always('hostPath volumes (volumes "v", "w")'),
  },
  {
    name: 'one path of the host',
    level: 'baseline',
    pod: pod({ volumes: [{ name: 'v', hostPath: { path: '/a' } }] }),
    said: always('hostPath volumes (volume "v")'),
  },
  {
    name: 'paths of the host, restricted: told as a type of volume',
    level: 'restricted',
    pod: carefulPod({ volumes: [{ name: 'v', hostPath: { path: '/a' } }] }),
    said: always('restricted volume types (volume "v" uses restricted volume type "hostPath")'),
  },
  {
    name: 'ports of the host',
    level: 'baseline',
    pod: pod({
      initContainers: [{ name: 'i', ports: [{ hostPort: 9 }, { hostPort: 0 }] }],
      containers: [{ name: 'a', ports: [{ hostPort: 12345 }, {}] }],
    }),
    said: always('hostPort (containers "i", "a" use hostPorts 12345, 9)'),
  },
  {
    name: 'one port of the host',
    level: 'baseline',
    pod: pod({
      containers: [
        { name: 'a', ports: [{ hostPort: 80 }] },
        { name: 'b', ports: [{}] },
      ],
    }),
    said: always('hostPort (container "a" uses hostPort 80)'),
  },

  {
    name: 'hosts of probes and handlers',
    level: 'baseline',
    pod: pod({
      containers: [
        {
          name: 'b',
          livenessProbe: { httpGet: { host: 'z' } },
          readinessProbe: { tcpSocket: { host: 'y' } },
          startupProbe: { httpGet: { host: '' } },
        },
        {
          name: 'a',
          startupProbe: { httpGet: { host: 'x' } },
          lifecycle: { postStart: { httpGet: { host: '::1' } }, preStop: { tcpSocket: { host: 'z' } } },
        },
      ],
    }),
    said: since(34, 'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "::1", "x", "y", "z")'),
  },
  {
    name: 'one host of a probe',
    level: 'baseline',
    pod: pod({ containers: [{ name: 'a', livenessProbe: { tcpSocket: { host: '8.8.8.8' } } }] }),
    said: since(34, 'probe or lifecycle host (container "a" uses probe or lifecycle host "8.8.8.8")'),
  },
  {
    name: 'probes and handlers of the pod itself',
    level: 'baseline',
    pod: pod({
      containers: [{ name: 'a', livenessProbe: { httpGet: {} }, lifecycle: { preStop: { tcpSocket: {} } } }],
    }),
    said: always(''),
  },

  {
    name: 'privileged containers, ephemeral ones too',
    level: 'baseline',
    pod: pod({
      containers: [{ name: 'a', securityContext: { privileged: false } }],
      ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }],
    }),
    said: always('privileged (container "e" must not set securityContext.privileged=true)'),
  },

  {
    name: 'an unmasked /proc',
    level: 'baseline',
    pod: pod({ containers: [{ name: 'a', securityContext: { procMount: 'Unmasked' } }, bare] }),
    said: always('procMount (container "a" must not set securityContext.procMount to "Unmasked")'),
  },
  {
    name: 'an unmasked /proc with users of its own',
    level: 'baseline',
    pod: pod({ hostUsers: false, containers: [{ name: 'a', securityContext: { procMount: 'Unmasked' } }] }),
    said: [
      [0, 'procMount (container "a" must not set securityContext.procMount to "Unmasked")'],
      [35, ''],
    ],
  },
  {
    name: 'an unmasked /proc with users of its own, restricted',
    level: 'restricted',
    pod: carefulPod({
      hostUsers: false,
      containers: [{ name: 'a', securityContext: { ...careful, procMount: 'Unmasked' } }],
    }),
    said: always('procMount (container "a" must not set securityContext.procMount to "Unmasked")'),
  },
  {
    name: 'a masked /proc',
    level: 'restricted',
    pod: carefulWith({ procMount: 'Default' }),
    said: always(''),
  },

  {
    name: 'types, users and roles of SELinux',
    level: 'baseline',
    pod: pod({
      securityContext: { seLinuxOptions: { type: 'z', user: 'u' } },
      containers: [{ name: 'a', securityContext: { seLinuxOptions: { type: 'b', role: 'r' } } }],
    }),
    said: always(
      'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: types "b", "z"; ' +
        'user may not be set; role may not be set)',
    ),
  },
  {
    name: 'one type of SELinux',
    level: 'baseline',
    pod: one({ seLinuxOptions: { type: 'other_t' } }),
    said: always('seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "other_t")'),
  },
  {
    name: 'the type of SELinux for engines',
    level: 'baseline',
    pod: one({ seLinuxOptions: { type: 'container_engine_t' } }),
    said: [
      [0, 'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t")'],
      [31, ''],
    ],
  },
  ...['', 'container_t', 'container_init_t', 'container_kvm_t'].map(
    (type): Case => ({
      name: `the type of SELinux '${type}'`,
      level: 'baseline',
      pod: one({ seLinuxOptions: { type } }),
      said: always(''),
    }),
  ),

  {
    name: 'seccomp profiles that are not safe',
    level: 'baseline',
    pod: pod({
      securityContext: { seccompProfile: { type: 'Unconfined' } },
      containers: [{ name: 'a', securityContext: { seccompProfile: { type: 'Other' } } }],
    }),
    said: since(
      19,
      'seccompProfile (pod and container "a" must not set securityContext.seccompProfile.type to "Other", ' +
        '"Unconfined")',
    ),
  },
  {
    name: 'seccomp annotations',
    level: 'baseline',
    pod: pod(
      { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
      {
        'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
        'container.seccomp.security.alpha.kubernetes.io/a': '',
        'container.seccomp.security.alpha.kubernetes.io/b': 'localhost/mine',
        'container.seccomp.security.alpha.kubernetes.io/c': 'docker/default',
        'container.seccomp.security.alpha.kubernetes.io/nobody': 'unconfined',
      },
    ),
    said: [
      [
        0,
        'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="", ' +
          'seccomp.security.alpha.kubernetes.io/pod="unconfined")',
      ],
      [19, ''],
    ],
  },
  {
    name: 'one seccomp annotation',
    level: 'baseline',
    pod: pod({ containers: [bare] }, { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }),
    said: [
      [0, 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'],
      [19, ''],
    ],
  },
  {
    name: 'no seccomp profile',
    level: 'restricted',
    pod: pod({
      initContainers: [{ name: 'i', securityContext: careful }],
      containers: [{ name: 'a', securityContext: without('seccompProfile') }],
    }),
    said: since(
      19,
      'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" ' +
        'or "Localhost")',
    ),
  },
  {
    name: 'a seccomp profile that is not safe, restricted',
    level: 'restricted',
    pod: carefulWith({ seccompProfile: { type: 'Unconfined' } }),
    said: since(19, 'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")'),
  },
  {
    name: 'a seccomp profile of the pod',
    level: 'restricted',
    pod: pod({
      securityContext: { seccompProfile: { type: 'Localhost' } },
      containers: [{ name: 'a', securityContext: without('seccompProfile') }],
    }),
    said: always(''),
  },

  ...(
    [
      ['kernel.shm_rmid_forced', 0],
      ['net.ipv4.ip_local_port_range', 0],
      ['net.ipv4.tcp_syncookies', 0],
      ['net.ipv4.ping_group_range', 0],
      ['net.ipv4.ip_unprivileged_port_start', 0],
      ['net.ipv4.ip_local_reserved_ports', 27],
      ['net.ipv4.tcp_keepalive_time', 29],
      ['net.ipv4.tcp_fin_timeout', 29],
      ['net.ipv4.tcp_keepalive_intvl', 29],
      ['net.ipv4.tcp_keepalive_probes', 29],
      ['net.ipv4.tcp_rmem', 32],
      ['net.ipv4.tcp_wmem', 32],
    ] as const
  ).map(
    ([name, safeSince]): Case => ({
      name: `the sysctl ${name}`,
      level: 'baseline',
      pod: pod({ securityContext: { sysctls: [{ name }] } }),
      said: [
        [0, safeSince === 0 ? '' : `forbidden sysctls (${name})`],
        [safeSince, ''],
      ],
    }),
  ),
  {
    name: 'other sysctls, in their order',
    level: 'baseline',
    pod: pod({ securityContext: { sysctls: [{ name: 'b' }, { name: 'kernel.shm_rmid_forced' }, { name: 'a' }] } }),
    said: always('forbidden sysctls (b, a)'),
  },

  {
    name: 'processes of a Windows host',
    level: 'baseline',
    pod: pod({
      securityContext: { windowsOptions: { hostProcess: true } },
      containers: [bare, { name: 'b', securityContext: { windowsOptions: { hostProcess: true } } }],
    }),
    said: always('hostProcess (pod and container "b" must not set securityContext.windowsOptions.hostProcess=true)'),
  },
  {
    name: 'no processes of a Windows host, said so',
    level: 'baseline',
    pod: pod({ securityContext: { windowsOptions: { hostProcess: false } }, containers: [bare] }),
    said: always(''),
  },

  {
    name: 'privilege escalation that is not ruled out',
    level: 'restricted',
    pod: pod({
      initContainers: [{ name: 'i', securityContext: { ...careful, allowPrivilegeEscalation: true } }],
      containers: [{ name: 'a', securityContext: without('allowPrivilegeEscalation') }],
    }),
    said: since(
      8,
      'allowPrivilegeEscalation != false (containers "i", "a" must set securityContext.allowPrivilegeEscalation=false)',
    ),
  },
  {
    name: 'a pod for Windows that says nothing of what Windows does not know',
    level: 'restricted',
    pod: pod({ os: { name: 'windows' }, containers: [{ name: 'a', securityContext: { runAsNonRoot: true } }] }),
    said: [
      [0, ''],
      [8, 'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)'],
      [
        19,
        'allowPrivilegeEscalation != false (container "a" must set ' +
          'securityContext.allowPrivilegeEscalation=false), seccompProfile (pod or container "a" must set ' +
          'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ],
      [
        22,
        'allowPrivilegeEscalation != false (container "a" must set ' +
          'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set ' +
          'securityContext.capabilities.drop=["ALL"]), seccompProfile (pod or container "a" must set ' +
          'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ],
      [25, ''],
    ],
  },

  ...[
    ...['gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd', 'flexVolume'],
    ...['cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk'],
    ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos'],
  ].map(
    (source): Case => ({
      name: `a volume from ${source}`,
      level: 'restricted',
      pod: carefulPod({ volumes: [{ name: 'v', [source]: {} }] }),
      said: always(`restricted volume types (volume "v" uses restricted volume type "${source}")`),
    }),
  ),
  ...[
    ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim'],
    ...['projected', 'secret'],
  ].map(
    (source): Case => ({
      name: `a volume from ${source}`,
      level: 'restricted',
      pod: carefulPod({ volumes: [{ name: 'v', [source]: {} }] }),
      said: always(''),
    }),
  ),
  {
    name: 'volumes from several places',
    level: 'restricted',
    pod: carefulPod({ volumes: [{ name: 'v', nfs: {} }, { name: 'w' }, { name: 'x', fc: {} }] }),
    said: always('restricted volume types (volumes "v", "w", "x" use restricted volume types "fc", "nfs", "unknown")'),
  },

  {
    name: 'root that is not ruled out',
    level: 'restricted',
    pod: pod({
      containers: [
        { name: 'a', securityContext: without('runAsNonRoot') },
        { name: 'b', securityContext: careful },
      ],
    }),
    said: always('runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)'),
  },
  {
    name: 'root, said so',
    level: 'restricted',
    pod: carefulPod({
      securityContext: { runAsNonRoot: false },
      initContainers: [{ name: 'i', securityContext: { ...careful, runAsNonRoot: false } }],
    }),
    said: always('runAsNonRoot != true (pod and container "i" must not set securityContext.runAsNonRoot=false)'),
  },
  {
    name: 'root ruled out by the pod',
    level: 'restricted',
    pod: pod({
      securityContext: { runAsNonRoot: true },
      containers: [{ name: 'a', securityContext: without('runAsNonRoot') }],
    }),
    said: always(''),
  },
  {
    name: 'root with users of its own',
    level: 'restricted',
    pod: carefulPod({ hostUsers: false, securityContext: { runAsNonRoot: false } }),
    said: [
      [0, 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)'],
      [35, ''],
    ],
  },

  {
    name: 'user 0',
    level: 'restricted',
    pod: carefulPod({
      securityContext: { runAsUser: 0 },
      initContainers: [{ name: 'i', securityContext: { ...careful, runAsUser: 0 } }],
    }),
    said: since(23, 'runAsUser=0 (pod and container "i" must not set runAsUser=0)'),
  },
  {
    name: 'user 0 with users of its own',
    level: 'restricted',
    pod: carefulPod({ hostUsers: false, securityContext: { runAsUser: 0 } }),
    said: [
      [0, ''],
      [23, 'runAsUser=0 (pod must not set runAsUser=0)'],
      [35, ''],
    ],
  },
  { name: 'user 1', level: 'restricted', pod: carefulWith({ runAsUser: 1 }), said: always('') },

  {
    name: 'a pod that says nothing, restricted',
    level: 'restricted',
    pod: pod({ containers: [bare] }),
    said: [
      [0, 'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)'],
      [
        8,
        'allowPrivilegeEscalation != false (container "a" must set ' +
          'securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "a" must ' +
          'set securityContext.runAsNonRoot=true)',
      ],
      [
        19,
        'allowPrivilegeEscalation != false (container "a" must set ' +
          'securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "a" must ' +
          'set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set ' +
          'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ],
      [
        22,
        'allowPrivilegeEscalation != false (container "a" must set ' +
          'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set ' +
          'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "a" must set ' +
          'securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set ' +
          'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ],
    ],
  },
  {
    name: 'what baseline forbids is told before what restricted does',
    level: 'restricted',
    pod: carefulPod({
      hostPID: true,
      containers: [{ name: 'a', securityContext: { ...careful, privileged: true, runAsNonRoot: false } }],
    }),
    said: always(
      'host namespaces (hostPID=true), privileged (container "a" must not set ' +
        'securityContext.privileged=true), runAsNonRoot != true (container "a" must not set ' +
        'securityContext.runAsNonRoot=false)',
    ),
  },
]

const versions: readonly Omit<LevelVersion, 'level'>[] = [
  ...Array.from({ length: 40 }, (_, minor) => ({ version: `v1.${minor}`, minor })),
  { version: 'latest', minor: Number.POSITIVE_INFINITY },
]

describe('a pod is judged', () => {
  for (const { name, level, pod: judged, said } of cases) {
    it(`${level}: ${name}`, () => {
      const answers = versions.map(({ version, minor }) => [
        version,
        printFindings(judge({ level, version, minor }, judged)),
      ])
      expect(answers).toEqual(
        versions.map(({ version, minor }) => [version, said.findLast(([from]) => from <= minor)?.[1]]),
      )
    })
  }

  it('not at all where everything is allowed', () => {
    const pods = cases.map((c) => judge({ level: 'privileged', version: 'v1.30', minor: 30 }, c.pod))
    expect(pods.flat()).toEqual([])
  })
})

describe('the tables of checks', () => {
  for (const [level, checks] of Object.entries({ baseline: baselineChecks, restricted: restrictedChecks })) {
    it(`stand in the order in which upstream tells: ${level}`, () => {
      const names = checks.map(({ name }) => name)
      expect(names).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
      for (const { since: from } of checks) {
        const minors = from.map(([minor]) => minor)
        expect(minors).toEqual([...new Set(minors)].sort((a, b) => a - b))
      }
    })
  }

  it('replace only what there is, a level below', () => {
    const below = baselineChecks.map(({ name }) => name)
    for (const { replaces } of restrictedChecks) if (replaces !== undefined) expect(below).toContain(replaces)
  })
})
