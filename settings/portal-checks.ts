/** Rules about the portal that concern several keys at once. Source: docs/configuration.md. */
import { isWebhookSecret } from './notifications-table.ts';
import type { Fault, Warning } from './report.ts';
import type { Settings } from './table.ts';

/** Minimum length: shorter keys can be guessed. */
const SHORT_SECRET = 16;

export function checkPortal(settings: Settings, faults: Fault[], warnings: Warning[]): void {
  checkAddresses(settings, faults, warnings);
  checkBootstrap(settings, faults, warnings);
  checkOrganizations(settings, faults);
  checkMail(settings, faults);
  checkServiceProfile(settings, faults);
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
  checkPair('Application', bootstrap.application, 'Secret', bootstrap.secret, faults);
  checkPair(
    'MonitorApplication',
    bootstrap.monitorApplication,
    'MonitorSecret',
    bootstrap.monitorSecret,
    faults,
  );
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
  secretKey: string,
  secret: string | undefined,
  faults: Fault[],
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

/** `default` names the first local profile when no profile has that name. */
function checkServiceProfile(
  { portal: { sealProfile }, signing: { profiles } }: Settings,
  faults: Fault[],
): void {
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
