/**
 * Values that kube-apiserver 1.36 itself wrote into an etcd with `--encryption-provider-config`: Secret `golden` in
 * namespace `default` with `user: ann`, in its protobuf form. The key of aesgcm is 32 times the digit 1, that of aescbc
 * 32 times the digit 2; the KMS plugin was that of `kms-plugin.ts`, with key `1`. Made with `--etcd-prefix=/<provider>`.
 */
export const upstreamValues: Readonly<
  Record<'aesgcm' | 'aescbc' | 'kms', { readonly key: string; readonly stored: string }>
> = {
  aesgcm: {
    key: '/aesgcm/secrets/default/golden',
    stored:
      'azhzOmVuYzphZXNnY206djE6a2V5MTrl7Vxqf2Q65V2sMEgFP8jJCSQmLMelE4UwSNZ1WIjoeNtfHa3XdRyhXzNtp1UDZfsxpklf' +
      '7b106CNS/BdjrGrgdQv+XYnyzgUFO2AzLlwuCtn6tXeJxfQdzMVNMrFeoE6toEjGvFqy2vkQdj7oCGm9MDiVJu0CqICjyftRMsE/' +
      'FfNLTr1sRnjKKO0dKWZu4FcyVT5Tpyc4FDCSKUKahqBLEtxgpZ8tRoWwlQMNcwNR/aUhKAn6OH6RznEh/yXVw1pl8JpD1W32Bp5k' +
      '8UXm/II2iBSZCcAVxqeIieCiixJoFEu5dfrvGSwyJbgXXjVNhvU=',
  },
  aescbc: {
    key: '/aescbc/secrets/default/golden',
    stored:
      'azhzOmVuYzphZXNjYmM6djE6a2V5MTqZDk5EwWPlOE8nq/KO3FAPNPB7dSMvAPTd2KziKvtjezj0nTwa+chNRsUjTT2OSB6QI1Iu' +
      'NYm5KS/JvxBDc8Q6Y2qLTf8PijuW3FMKSjWQzWFX+6f6Sw6i0KAp6W/ExYpLOA9trz12mtxFltyWo4kgbp5318wefD8aoAYmCyuz' +
      '7McKC90DZO42ilVJ2Ab1y0MqAVSEimUyhC/rq/62OOlj44ttYLo4f1oPHtmi410YSVNsnBfyKqLQhbzMTslTvl17Q6t72SZNSWAi' +
      'cfG1ZZyMgzmmeXx0AQeQq2jfk/5CVHpvtoYgEbEknwiXUkfTcpM=',
  },
  kms: {
    key: '/kms/secrets/default/golden',
    stored:
      'azhzOmVuYzprbXM6djI6dGVzdDoKkAKQFBX5A4xR1f9fClb1DqwgFm6MPGFLPn3YkXfcwAjw3dDDDy2owTvr+Qn7Jwt0nUueE4UM' +
      'Hcgb0U5xfI/73yXan477SARxZucZrlSIUhS9zMtuGO/qduDjhXvTzJL5Iszdkopxx4AZ8OUHVXgxF6ko0Lu+y9i+3AE9cLxnb/wA' +
      'tz+sc6V8UNrISPztIYlErYZGTGTv4YLGsONpZphMUr/+POUNCaIks1vgRF0l9jHYDh0cpZ6Nsbqnrp0+zLZvpvbVifddyeptsZ6H' +
      'qstNEpq1QRCTDTHKEamV2Jh6sS1W8HdPyG8tD9wbhy+MsXvCB/1n4loW/ltyHYIfuJcJSKIy1dmMLtvcV39L2O8lIr9HQhIBMRog' +
      'e7Uo4A/J+DqSQdRFFjOVFDkC7jStt7XF6FbZvAsFk94iHgoXdmVyc2lvbi5rbXMuZXhhbXBsZS5jb20SA29uZSgB',
  },
}
