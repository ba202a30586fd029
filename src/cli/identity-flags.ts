/** Flags of `borough up` about who asks: an OpenID Connect issuer, a proxy in front. Named as kube-apiserver's. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../app/config.ts'
import {
  faultOfPrefix,
  proxyHeaders as headers,
  idTokenAlgorithms,
  type OidcConfig,
  readAuthorities,
} from '../authn/identity-config.ts'
import { durationOption, minuteMs, timerOrNone } from './duration.ts'
import { readableFile } from './path-flags.ts'
import { placeOf } from './settings.ts'

export interface IdentityFlags {
  readonly clientCaFile?: string
  readonly authenticationConfig?: string
  readonly oidcIssuerUrl?: string
  readonly oidcClientId?: string
  readonly oidcUsernameClaim: string
  readonly oidcUsernamePrefix?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix: string
  readonly oidcRequiredClaim: ReadonlyMap<string, string>
  readonly oidcCaFile?: string
  readonly oidcSigningAlgs: OidcConfig['algorithms']
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames: readonly string[]
  readonly requestheaderUsernameHeaders: readonly string[]
  readonly requestheaderUidHeaders: readonly string[]
  readonly requestheaderGroupHeaders: readonly string[]
  readonly requestheaderExtraHeadersPrefix: readonly string[]
}

export function addIdentityOptions(command: Command): void {
  const list = (
    flag: string,
    text: string,
    initial: readonly string[],
    parse: (text: string) => readonly string[] = parseHeaders,
  ): Option => new Option(flag, text).argParser(parse).default(initial, initial.join(',') || 'any')
  command
    .option(
      '--client-ca-file <pem>',
      "who vouches for clients beside the server's own authority; read again when it changes",
    )
    .option(
      '--authentication-config <file>',
      'an AuthenticationConfiguration: issuers of ID tokens, and what needs no credentials; read again when it changes',
    )
    .option('--oidc-issuer-url <url>', 'take ID tokens of this OpenID Connect issuer', parseIssuer)
    .option('--oidc-client-id <id>', 'for whom these tokens must be')
    .option('--oidc-username-claim <claim>', 'what a user is called by', 'sub')
    .option('--oidc-username-prefix <text>', 'in front of the name; - for nothing; default: the URL and #', parsePrefix)
    .option('--oidc-groups-claim <claim>', 'in which groups a user is')
    .option('--oidc-groups-prefix <text>', 'in front of each group', parsePrefix, '')
    .addOption(
      new Option('--oidc-required-claim <key=value>', 'what a token must claim besides; repeatable')
        .argParser(addClaim)
        .default(new Map(), 'none'),
    )
    .option('--oidc-ca-file <pem>', 'who vouches for the issuer; default: the authorities that Node trusts')
    .addOption(
      new Option('--oidc-signing-algs <list>', idTokenAlgorithms.join(', '))
        .argParser(parseAlgorithms)
        .default(['RS256'], 'RS256'),
    )
    .option('--requestheader-client-ca-file <pem>', 'who vouches for proxies that name the user in headers')
    .addOption(list('--requestheader-allowed-names <list>', 'common names of such proxies', [], parseList))
    .addOption(list('--requestheader-username-headers <list>', 'where they name the user', headers.usernameHeaders))
    .addOption(list('--requestheader-uid-headers <list>', 'where they tell its uid', headers.uidHeaders))
    .addOption(list('--requestheader-group-headers <list>', 'where they name its groups', headers.groupHeaders))
    .addOption(
      list('--requestheader-extra-headers-prefix <list>', 'how headers with more begin', headers.extraPrefixes),
    )
}

/** A service beside RBAC that may allow requests. */
export function addAuthorizationOptions(command: Command): void {
  command
    .option('--authorization-webhook-config-file <kubeconfig>', 'ask this service what RBAC does not allow')
    .addOption(
      durationOption(
        '--authorization-webhook-cache-authorized-ttl <duration>',
        'how long its yes holds',
        5 * minuteMs,
        timerOrNone,
      ),
    )
    .addOption(
      durationOption(
        '--authorization-webhook-cache-unauthorized-ttl <duration>',
        'how long its no holds',
        minuteMs / 2,
        timerOrNone,
      ),
    )
}

export interface AuthorizationFlags {
  readonly authorizationWebhookConfigFile?: string
  readonly authorizationWebhookCacheAuthorizedTtl: number
  readonly authorizationWebhookCacheUnauthorizedTtl: number
  readonly listOwnNamespaces: boolean
}

export function authorizationOf(flags: AuthorizationFlags, command: Command): Pick<Config, 'authorizationWebhook'> {
  const file = flags.authorizationWebhookConfigFile
  if (file === undefined) return {}
  // Which namespaces are a user's own can only be told from rights that are known beforehand.
  if (flags.listOwnNamespaces) {
    command.error('--list-own-namespaces can not be used with --authorization-webhook-config-file')
  }
  return {
    authorizationWebhook: {
      kubeconfigPath: readableFile(command, 'authorization-webhook-config-file', file),
      allowedForMs: flags.authorizationWebhookCacheAuthorizedTtl,
      deniedForMs: flags.authorizationWebhookCacheUnauthorizedTtl,
    },
  }
}

/** Ends the command with one line for what does not go together. */
export function identityOf(
  flags: IdentityFlags,
  command: Command,
): Pick<Config, 'oidc' | 'authenticationConfigFile' | 'frontProxy' | 'clientCaFile'> {
  const file = flags.clientCaFile
  return {
    ...(file === undefined ? {} : { clientCaFile: readableFile(command, 'client-ca-file', file) }),
    ...oidcOf(flags, command),
    ...authenticationConfigOf(flags, command),
    ...frontProxyOf(flags, command),
  }
}

function oidcOf(flags: IdentityFlags, command: Command): Pick<Config, 'oidc'> {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId, oidcUsernamePrefix: prefix } = flags
  if (issuerUrl === undefined && clientId === undefined) return {}
  if (issuerUrl === undefined || clientId === undefined) {
    return command.error('--oidc-issuer-url and --oidc-client-id need each other')
  }
  return {
    oidc: {
      issuerUrl,
      clientId,
      usernameClaim: flags.oidcUsernameClaim,
      ...(prefix === undefined ? {} : { usernamePrefix: prefix === '-' ? '' : prefix }),
      ...(flags.oidcGroupsClaim === undefined ? {} : { groupsClaim: flags.oidcGroupsClaim }),
      groupsPrefix: flags.oidcGroupsPrefix,
      requiredClaims: flags.oidcRequiredClaim,
      algorithms: flags.oidcSigningAlgs,
      ...(flags.oidcCaFile === undefined
        ? {}
        : { caFile: authorities('oidc-ca-file', flags.oidcCaFile, command).path }),
    },
  }
}

function authenticationConfigOf(flags: IdentityFlags, command: Command): Pick<Config, 'authenticationConfigFile'> {
  const file = flags.authenticationConfig
  if (file === undefined) return {}
  const isSet = (key: string): boolean => (command.getOptionValueSource(key) ?? 'default') !== 'default'
  if (Object.keys(command.opts()).some((key) => key.startsWith('oidc') && isSet(key))) {
    command.error('--authentication-config and the --oidc-… flags can not be used together')
  }
  return { authenticationConfigFile: readableFile(command, 'authentication-config', file) }
}

function frontProxyOf(flags: IdentityFlags, command: Command): Pick<Config, 'frontProxy'> {
  const file = flags.requestheaderClientCaFile
  if (file === undefined) return {}
  return {
    frontProxy: {
      ca: authorities('requestheader-client-ca-file', file, command).text,
      allowedNames: flags.requestheaderAllowedNames,
      usernameHeaders: lower(flags.requestheaderUsernameHeaders),
      uidHeaders: lower(flags.requestheaderUidHeaders),
      groupHeaders: lower(flags.requestheaderGroupHeaders),
      extraPrefixes: lower(flags.requestheaderExtraHeadersPrefix),
    },
  }
}

const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase())

function authorities(flag: string, file: string, command: Command): { readonly path: string; readonly text: string } {
  const path = readableFile(command, flag, file)
  try {
    return { path, text: readAuthorities(path) }
  } catch (error) {
    return command.error(
      `${placeOf(command, flag)}: ${file}: ${error instanceof Error ? error.message : 'it can not be read'}`,
    )
  }
}

const parseList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** @throws InvalidArgumentError for what is no name of a header: it would never be found */
function parseHeaders(text: string): readonly string[] {
  const names = parseList(text)
  if (names.length === 0 || names.some((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))) {
    throw new InvalidArgumentError('It must be names of headers, such as X-Remote-User, separated by commas.')
  }
  return names
}

function parseIssuer(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') {
    throw new InvalidArgumentError('It must be an https URL.')
  }
  return text
}

function parsePrefix(text: string): string {
  const fault = faultOfPrefix(text)
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`)
  return text
}

function addClaim(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be like tenant=team-a.')
  return new Map(before).set(text.slice(0, at), text.slice(at + 1))
}

function parseAlgorithms(text: string): OidcConfig['algorithms'] {
  const names = parseList(text)
  const unknown = names.find((name) => !(idTokenAlgorithms as readonly string[]).includes(name))
  if (unknown !== undefined || names.length === 0) {
    throw new InvalidArgumentError(`It must be of ${idTokenAlgorithms.join(', ')}.`)
  }
  return names as OidcConfig['algorithms']
}
