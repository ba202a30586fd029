/**
 * Values made by another implementation (Go's crypto/aes, crypto/cipher and crypto/hmac, put together as upstream's
 * transformers do), which must stay readable.
 */
export const storedKey = '/registry/secrets/team-a/password'
export const plaintext = '{"metadata":{"name":"password"},"data":{"p":"aHVudGVyMg=="}}'
/** The first 16, 24 or 32 bytes are the key; all of it is the seed. */
export const secretText = '0123456789abcdefghijklmnopqrstuv'

export const goldenValues: readonly { readonly provider: string; readonly bytes: number; readonly stored: string }[] = [
  {
    provider: 'aesgcm',
    bytes: 16,
    stored:
      'azhzOmVuYzphZXNnY206djE6a2V5MTonTD1FjmHoDNAklnd3YOINpH+LPt2rjGUaGTGbJSCc3VDuIQLxswQsLYc3sX4KlGv2/ugs' +
      'x0SulZ9sRHrq5uttgiXTm60/Xiow0PrQ1WmvjYkM/3VTcgz5',
  },
  {
    provider: 'aescbc',
    bytes: 16,
    stored:
      'azhzOmVuYzphZXNjYmM6djE6a2V5MToSWgevu21C+PXu4b2jza3RX77/6efU3T8Rh0e68qp+5xo7mqrAf0+KbIX+lgz5aSdwbRpv' +
      'blYRq4rn2sn7fpLe+NCHI0yY6tXH7W1jDFZKaA==',
  },
  {
    provider: 'aesgcm',
    bytes: 24,
    stored:
      'azhzOmVuYzphZXNnY206djE6a2V5MTr/l7BBx/P5IQhWz87rV8ZN10D5pwdDsfT6JDyUu194aDmiM6rvHGbLaQZcZYQQ+LZyhU1D' +
      'W1UuoWLZvxVcmEcqKUHti4SxUB6fuCuKG/ogYPSvLnNjBbNS',
  },
  {
    provider: 'aescbc',
    bytes: 24,
    stored:
      'azhzOmVuYzphZXNjYmM6djE6a2V5MTpdjrklVntFE9oEXKQXXhN2ImbA96A0rgi40L3NtjK5qELle1WS5ABOe7u61IROXoquRP8z' +
      'Cube1oDJOMBj/VFClqS6KV4QhhYul7gVaCntqQ==',
  },
  {
    provider: 'aesgcm',
    bytes: 32,
    stored:
      'azhzOmVuYzphZXNnY206djE6a2V5MTo5/hvSazdxM4PoRm9F77T1BUTo0r1emQl8ffs0A5eXr/QHwj4e44NfVulaFsQHeQJbt0wt' +
      'bH3gUJGQ87RXNjyueL2a9lgxbUbGbqhditTY00uupJ40zdtY',
  },
  {
    provider: 'aescbc',
    bytes: 32,
    stored:
      'azhzOmVuYzphZXNjYmM6djE6a2V5MToAuqvRbna8FnJXXys0YvT/tbyks7aJRXMx7bGsepdMTEjTTwkmHNIvWrYKx04HluE7UAQv' +
      'FSsbvMCdgBKA41lMexDRzOsp7V7g1PViar8CxA==',
  },
]

/** The plugin decrypts `encrypted seed` of its key `1`. Of a seed, and of a key as older upstream versions wrote it. */
export const goldenEnvelopes: readonly { readonly isSeed: boolean; readonly stored: string }[] = [
  {
    isSeed: true,
    stored:
      'azhzOmVuYzprbXM6djI6dGVzdDoKeJvUogpv1q38ZwCFXqSjOBg40h+mSWbaq1sSFqYmuUxuZM5nsliHAFn1wNBMNRrBcWSyvSIL' +
      'RCg4QC/FgcBKj5Ef8exh1SGtnEi/sMMPUsCabieqm1s88Dn0O93Z0yvUBRhnWTDl3OvLrwVJUnpE13WNquqitkuHDxIBMRoOZW5j' +
      'cnlwdGVkIHNlZWQiHgoXdmVyc2lvbi5rbXMuZXhhbXBsZS5jb20SA29uZSgB',
  },
  {
    isSeed: false,
    stored:
      'azhzOmVuYzprbXM6djI6dGVzdDoKWErmyDbMJr0ggBqA/5xcp6/q4l5hQvfATjQMe+YQ0OM2FYtaxSkGYii2eZeuPCyvqqkuyj8Q' +
      '6jE4HaRwa0JRs4DLxaVbJ4wu1Xhb8nwXldd/QiIZAZuiIQYSATEaDmVuY3J5cHRlZCBzZWVkIh4KF3ZlcnNpb24ua21zLmV4YW1w' +
      'bGUuY29tEgNvbmU=',
  },
]
