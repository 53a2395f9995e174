/**
 * Rules that concern several keys at once.
 *
 * Source: docs/batch-values.md §1 row 3, §5 (`Storage:Inputs`).
 */
import { join, relative, sep } from 'node:path';
import { describeFailure } from '@sealwright/runtime/core';
import { hostsWithoutTls, parsePostgresUrl } from '@sealwright/runtime/postgres-parts';
import { checkEncryption } from './encryption-checks.ts';
import type { Fault, Warning } from './findings.ts';
import { checkIdentity } from './identity-table.ts';
import { isThisMachine } from './kinds.ts';
import { checkLogging } from './logging-table.ts';
import { checkJobWebhooks, isWebhookSecret } from './notifications-table.ts';
import { checkObjects } from './objects-table.ts';
import { checkRemoteSigner } from './remote-table.ts';
import { sealProfileSettings } from './seal-profile.ts';
import { checkSigning } from './signing-checks.ts';
import { checkSigningProviders } from './signing-providers-table.ts';
import type { InputSettings, Settings } from './table.ts';
import { checkTokens } from './token-table.ts';

/** Minimum length: shorter keys can be guessed. */
const SHORT_SECRET = 16;

/** Rules about the portal that concern several keys at once. Source: docs/configuration.md. */
function checkPortal(settings: Settings, faults: Fault[], warnings: Warning[]): void {
  checkAddresses(settings, faults, warnings);
  checkBootstrap(settings, faults, warnings);
  checkOrganizations(settings, faults);
  checkMail(settings, faults);
  checkMessageGateway(settings, faults);
  checkServiceProfile(settings, faults, warnings);
}

function checkAddresses(
  { portal, batch, hosting, runtime }: Settings,
  faults: Fault[],
  warnings: Warning[],
): void {
  if (!portal.enabled) return;
  const { url } = portal;
  if (runtime.store === 'postgres' && portal.publicUrl === undefined) {
    warnings.push({
      key: 'Portal:PublicUrl',
      text: 'is left out; links lead to Portal:Url of the node that creates them, not to a balancer',
    });
  }
  if (batch.enabled && url.port !== 0 && url.port === batch.url.port && url.host === batch.url.host) {
    faults.push({ key: 'Portal:Url', rule: 'is the address of Batch:Url already' });
  }
  if (url.scheme === 'https' && hosting.tls.certificatePath === undefined) {
    faults.push({
      key: 'Portal:Url',
      rule: 'begins with https, which needs Hosting:Tls:CertificatePath and KeyPath',
    });
  }
}

function checkBootstrap({ portal }: Settings, faults: Fault[], warnings: Warning[]): void {
  const { bootstrap } = portal;
  checkPair('Application', bootstrap.application, { secretKey: 'Secret', secret: bootstrap.secret, faults });
  checkPair('MonitorApplication', bootstrap.monitorApplication, {
    secretKey: 'MonitorSecret',
    secret: bootstrap.monitorSecret,
    faults,
  });
  const monitor = bootstrap.monitorApplication;
  if (monitor !== undefined && monitor.toLowerCase() === bootstrap.application?.toLowerCase()) {
    faults.push({
      key: 'Portal:Bootstrap:MonitorApplication',
      rule: 'is the name of Portal:Bootstrap:Application already; names of applications are unique',
    });
  }
  for (const [name, secret] of [
    ['Secret', bootstrap.secret],
    ['MonitorSecret', bootstrap.monitorSecret],
  ] as const) {
    if (secret === undefined || secret === '') continue;
    const key = `Portal:Bootstrap:${name}`;
    if (/[|\p{Cc}]/u.test(secret)) faults.push({ key, rule: 'must hold no bar and no control character' });
    else if (secret.length < SHORT_SECRET) {
      warnings.push({ key, text: `is shorter than ${SHORT_SECRET} characters` });
    }
  }
}

function checkPair(
  applicationKey: string,
  application: string | undefined,
  {
    secretKey,
    secret,
    faults,
  }: { readonly secretKey: string; readonly secret: string | undefined; readonly faults: Fault[] },
): void {
  if (application !== undefined && !secret) {
    const key = `Portal:Bootstrap:${secretKey}`;
    faults.push({ key, rule: `is required with Portal:Bootstrap:${applicationKey}` });
  }
  if (application === undefined && secret) {
    const key = `Portal:Bootstrap:${applicationKey}`;
    faults.push({ key, rule: `is required with Portal:Bootstrap:${secretKey}` });
  }
}

function checkOrganizations({ portal }: Settings, faults: Fault[]): void {
  const names = portal.organizations.map((entry) => entry.name.normalize('NFC').toLowerCase());
  for (const [index, { webhook }] of portal.organizations.entries()) {
    const prefix = `Portal:Organizations:${index}`;
    const twin = names.indexOf(names[index] ?? '');
    if (twin < index)
      faults.push({ key: `${prefix}:Name`, rule: `is the name of Portal:Organizations:${twin} already` });
    const { url, authType, token, secret } = webhook;
    if (url === undefined && (authType !== 'NoAuth' || token || secret)) {
      faults.push({ key: `${prefix}:Webhook:Url`, rule: 'is required with the other keys of the webhook' });
    }
    if (authType !== 'NoAuth' && !token) {
      faults.push({ key: `${prefix}:Webhook:Token`, rule: `is required with the AuthType ${authType}` });
    }
    if (secret && !isWebhookSecret(secret)) {
      faults.push({ key: `${prefix}:Webhook:Secret`, rule: 'must be whsec_ and 24 to 64 bytes in Base64' });
    }
  }
}

function checkMail({ portal: { smtp } }: Settings, faults: Fault[]): void {
  if (smtp.host === undefined) return;
  if (smtp.from === undefined)
    faults.push({ key: 'Portal:Smtp:From', rule: 'is required with Portal:Smtp:Host' });
  if ((smtp.user === undefined) !== (smtp.password === undefined)) {
    const missing = smtp.user === undefined ? 'User' : 'Password';
    faults.push({ key: `Portal:Smtp:${missing}`, rule: 'is required when the other of the two is given' });
  }
}

function checkMessageGateway({ portal: { messageGateway } }: Settings, faults: Fault[]): void {
  const { url, secret } = messageGateway;
  if (url === undefined && secret)
    faults.push({ key: 'Portal:MessageGateway:Url', rule: 'is required with Portal:MessageGateway:Secret' });
  if (url === undefined) return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isThisMachine(hostname))
    faults.push({ key: 'Portal:MessageGateway:Url', rule: 'must be https, except on this machine' });
  if (!isWebhookSecret(secret ?? ''))
    faults.push({ key: 'Portal:MessageGateway:Secret', rule: 'must be whsec_ and 24 to 64 bytes in Base64' });
}

/** `default` names the first local profile when no profile has that name. */
function checkServiceProfile(settings: Settings, faults: Fault[], warnings: Warning[]): void {
  const { sealProfile } = settings.portal;
  const { profiles } = settings.signing;
  const seal = sealProfileSettings(settings);
  if (seal?.require !== undefined) {
    const text = `demands nothing of seals: Require of profile ${seal.name} is for jobs`;
    if (sealProfile === undefined) warnings.push({ key: 'Portal:SealProfile', text });
    else faults.push({ key: 'Portal:SealProfile', rule: text });
  }
  const profile = profiles.find(({ name }) => name === sealProfile);
  if (sealProfile === undefined || profile?.method === 'Local') return;
  if (profile === undefined && sealProfile === 'default') return;
  const names = profiles.map(({ name }) => name).join(', ') || 'default';
  faults.push({
    key: 'Portal:SealProfile',
    rule:
      profile === undefined
        ? `names a signing profile that does not exist; there is ${names}`
        : 'names a profile that is signed elsewhere; it must have the Method Local',
  });
}

/** Work folders below the root; they must not overlap with an input. */
const WORK_FOLDERS = ['processing', 'output', 'error', 'db', 'logs', 'keys', 'portal', 'mail'] as const;
const MANY_INPUTS = 16;
const SHORT_API_KEY = 16;

/** @param isSound false for a section whose own values are already faulty; rules about it would only repeat that */
export function checkTogether(settings: Settings, isSound: (section: string) => boolean) {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  if (isSound('Storage:')) checkInputs(settings, faults, warnings);
  if (isSound('Storage:') && isSound('Runtime:') && isSound('Batch:'))
    checkObjects(settings, faults, warnings);
  if (isSound('Hosting:Tls') && isSound('Batch:Url')) checkTls(settings, faults);
  if (isSound('Signing:')) checkSigning(settings, { faults, warnings });
  if (isSound('Signing:') && isSound('RemoteSigner:')) checkRemoteSigner(settings, faults);
  if (isSound('Encryption:')) checkEncryption(settings, faults);
  if (isSound('Runtime:')) {
    checkRuntime(settings, faults);
    checkDatabase(settings, warnings);
  }
  if (isSound('Hosting:')) checkHosting(settings, faults, warnings);
  checkApiKeys(settings, warnings);
  if (isSound('Notifications:')) checkJobWebhooks(settings.notifications.webhooks, faults);
  if (isSound('Portal:')) checkSigningProviders(settings, faults);
  if (isSound('Portal:') && isSound('Signing:')) checkPortal(settings, faults, warnings);
  if (isSound('Identity:')) checkIdentity(settings, faults, warnings);
  if (isSound('Identity:') && isSound('Batch:') && isSound('AllowedHosts'))
    checkCallbacks(settings, warnings);
  if (isSound('Identity:')) checkTokens(settings.identity.tokens, faults);
  if (isSound('Logging:') && isSound('Storage:')) checkLogging(settings, faults, warnings);
  return { faults, warnings };
}

function checkInputs(settings: Settings, faults: Fault[], warnings: Warning[]): void {
  const { storage } = settings;
  const { inputs } = storage;
  for (const [index, input] of inputs.entries()) {
    const prefix = `Storage:Inputs:${index}`;
    const earlier = inputs.slice(0, index);
    const twin = earlier.findIndex(({ name }) => name === input.name);
    if (twin >= 0)
      faults.push({
        key: `${prefix}:Name`,
        rule: `is also the name of Storage:Inputs:${twin}; names must be unique`,
      });
    checkProfile(input, prefix, settings, faults);
  }
  faults.push(...inputOverlaps(storage, (path) => path));
  if (inputs.length > MANY_INPUTS) {
    warnings.push({
      key: 'Storage:Inputs',
      text: `has ${inputs.length} entries; more than ${MANY_INPUTS} cost memory and start-up time`,
    });
  }
}

/**
 * Finds input folders that overlap with each other or with the work folders.
 * @param placed location of a path: the path itself as text, or its real path on the disk
 */
export function inputOverlaps(
  { inputs, root }: Settings['storage'],
  placed: (path: string) => string,
): readonly Fault[] {
  const faults: Fault[] = [];
  const work = WORK_FOLDERS.map((name) => ({
    what: `the work folder ${name}`,
    path: placed(join(root, name)),
  }));
  const places = inputs.map(({ path }) => (path === '' ? undefined : placed(path)));
  for (const [index, place] of places.entries()) {
    if (place === undefined) continue;
    const key = `Storage:Inputs:${index}:Path`;
    for (const [other, path] of places.slice(0, index).entries()) {
      if (path !== undefined && overlap(path, place))
        faults.push({ key, rule: `overlaps with the folder of Storage:Inputs:${other}` });
    }
    const touched = isInside(placed(root), place)
      ? { what: 'the folders' }
      : work.find(({ path }) => overlap(path, place));
    if (touched) faults.push({ key, rule: `overlaps with ${touched.what} of Storage:Root` });
  }
  return faults;
}

/** `default` names the first profile when no profile has that name. */
function checkProfile(input: InputSettings, prefix: string, { signing }: Settings, faults: Fault[]): void {
  if (input.profile === 'default') return;
  if (signing.profiles.some(({ name }) => name === input.profile)) return;
  const names = signing.profiles.map(({ name }) => name).join(', ') || 'default';
  faults.push({
    key: `${prefix}:Profile`,
    rule: `names a signing profile that does not exist; there is ${names}`,
  });
}

function checkTls({ hosting, batch }: Settings, faults: Fault[]): void {
  const { certificatePath, keyPath } = hosting.tls;
  if ((certificatePath === undefined) !== (keyPath === undefined)) {
    const missing = certificatePath === undefined ? 'CertificatePath' : 'KeyPath';
    faults.push({
      key: `Hosting:Tls:${missing}`,
      rule: 'is required when the other Hosting:Tls path is given',
    });
  } else if (batch.url.scheme === 'https' && certificatePath === undefined) {
    faults.push({
      key: 'Batch:Url',
      rule: 'begins with https, which needs Hosting:Tls:CertificatePath and KeyPath',
    });
  }
}

function checkApiKeys({ auth }: Settings, warnings: Warning[]): void {
  if (auth.apiKey === '') {
    warnings.push({
      key: 'Auth:ApiKey',
      text: 'is empty: every protected endpoint answers auth.misconfigured',
    });
  } else if (auth.apiKey !== undefined && auth.apiKey.length < SHORT_API_KEY) {
    warnings.push({ key: 'Auth:ApiKey', text: `is shorter than ${SHORT_API_KEY} characters` });
  }
}

/** True when the folders are equal or one contains the other. */
function overlap(left: string, right: string): boolean {
  return isInside(left, right) || isInside(right, left);
}

/** True when `inner` is `outer` or somewhere below it. Both absolute. */
function isInside(inner: string, outer: string): boolean {
  return relative(outer, inner).split(sep)[0] !== '..';
}

/**
 * Checks proxies and https.
 *
 * Source: docs/batch-values.md §5, `Hosting:ForwardedHeaders` and `Hosting:RequireHttps`.
 */
function checkHosting({ hosting }: Settings, faults: Fault[], warnings: Warning[]): void {
  const { enabled, trustAnyProxy, knownProxies, knownNetworks } = hosting.forwardedHeaders;
  const listed = knownProxies.length + knownNetworks.length > 0;
  if (enabled && !trustAnyProxy && !listed) {
    faults.push({
      key: 'Hosting:ForwardedHeaders:Enabled',
      rule: 'is true, which needs proxies to trust: KnownProxies, KnownNetworks or TrustAnyProxy',
    });
  }
  if (trustAnyProxy && listed) {
    faults.push({
      key: 'Hosting:ForwardedHeaders:TrustAnyProxy',
      rule: 'is true, which leaves KnownProxies and KnownNetworks without meaning; use one or the other',
    });
  }
  if (!enabled && (trustAnyProxy || listed)) {
    warnings.push({
      key: 'Hosting:ForwardedHeaders:Enabled',
      text: 'is false, so the proxies named below it are not trusted',
    });
  }
  if (hosting.requireHttps && hosting.tls.certificatePath === undefined && !enabled) {
    warnings.push({
      key: 'Hosting:RequireHttps',
      text: 'is true, but without Hosting:Tls or Hosting:ForwardedHeaders every request counts as http and is redirected',
    });
  }
}

/** Warns where operators would sign in at a provider on this machine alone. Source: docs/identity.md. */
function checkCallbacks({ identity, batch, allowedHosts }: Settings, warnings: Warning[]): void {
  const isUsed = batch.enabled && identity.providers.some(({ operators }) => operators);
  if (!isUsed || batch.publicUrl !== undefined || !allowedHosts.includes('*')) return;
  warnings.push({
    key: 'Batch:PublicUrl',
    text: 'is left out, and AllowedHosts names no host; operators can sign in at a provider only by a loopback address or that of Batch:Url',
  });
}

/** Warns of a database on another machine without TLS. */
function checkDatabase({ runtime }: Settings, warnings: Warning[]): void {
  const { url } = runtime.postgres;
  if (runtime.store === 'lmdb' || url === undefined || urlFault(url) !== undefined) return;
  const hosts = hostsWithoutTls(url);
  if (hosts.length === 0) return;
  warnings.push({
    key: 'Runtime:Postgres:Url',
    text: `names a database on ${hosts.join(', ')} without TLS: whoever is between can read its password and all data. Add ?sslmode=verify-full`,
  });
}

/** Adds a fault for each key that does not fit `Runtime:Store`. Source: docs/configuration.md. */
function checkRuntime({ runtime }: Settings, faults: Fault[]): void {
  if (runtime.store !== 'postgres') return;
  const { url } = runtime.postgres;
  const rule = url === undefined ? 'is required by Runtime:Store=postgres' : urlFault(url);
  if (rule !== undefined) faults.push({ key: 'Runtime:Postgres:Url', rule });
  if (runtime.shards !== 1)
    faults.push({ key: 'Runtime:Shards', rule: 'must be 1 with Runtime:Store=postgres' });
}

/** The broken rule of a URL, if there is one. */
function urlFault(url: string): string | undefined {
  try {
    parsePostgresUrl(url);
    return undefined;
  } catch (error) {
    return describeFailure(error).message;
  }
}
