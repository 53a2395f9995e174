/**
 * Maps the configuration to the portal: its secrets, its organizations at first start, and its mail transport.
 * Source: docs/configuration.md, `Portal:*` and "First start, nothing configured".
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Ids } from '@sealwright/runtime';
import {
  createMailFolder,
  createSmtpMailer,
  FIRST_APPLICATION,
  FIRST_MONITOR,
  FIRST_ORGANIZATION,
  type Mailer,
  type ObjectStore,
  type PortalOptions,
} from '../actors/index.ts';
import { foldedName } from '../machines/portal/accounts/organization.ts';
import type { Settings } from '../settings.ts';
import { type KeyFolder, keepPortalSecret, type StoredSecret } from './key-folder.ts';
import { portalNotices } from './portal-notices.ts';
import type { PortalProfiles, SigningSetup } from './signing-setup.ts';

const DAY_MS = 86_400_000;

/** Names of the files with the portal's generated secrets. */
export const APPLICATION_FILE = 'portal-application-secret';
const MONITOR_FILE = 'portal-monitor-secret';

/** Age of the mails that are removed from the folder, where no relay is set. */
const MAIL_RETENTION_DAYS = 30;

/** The administrator organization; monitors belong to it. Source: docs/portal-values.md §0. */
const SYSTEM_ORGANIZATION = 'Sys Admin';

/** Without a relay, mails are read on the same machine only. */
const DEVELOPMENT_SENDER = 'sealwright <portal@localhost>';

/** Record of erasures in the folder of keys, which outlives the store. */
export const ERASURES_FILE = 'erasures';

/** A key of the portal for the banner. */
interface PortalKey {
  readonly organization: string;
  readonly application: string;
  /** Missing: it is configured. */
  readonly stored: StoredSecret | undefined;
}

export interface PortalSetup {
  readonly options: PortalOptions;
  readonly keys: readonly PortalKey[];
  /** Folder of written mails; undefined with a relay. */
  readonly mailFolder: string | undefined;
  readonly warnings: readonly string[];
}

/** @throws {Fatal} `keys.unusable` */
export async function setUpPortal(
  settings: Settings,
  keys: KeyFolder,
  signing: Pick<SigningSetup, 'trust'> & Pick<PortalProfiles, 'profiles' | 'sealProfile'>,
  parts: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly publicUrl: () => string;
    readonly objects: ObjectStore | undefined;
  },
): Promise<PortalSetup> {
  const { portal, storage } = settings;
  const { bootstrap, smtp } = portal;
  const secret = await keepPortalSecret(keys, parts.ids);
  const keep = (file: string) => keys.loadOrCreate(file, () => parts.ids.bytes(32).toString('hex'));
  const applicationSecret = bootstrap.secret === undefined ? await keep(APPLICATION_FILE) : undefined;
  const monitorSecret = bootstrap.monitorSecret === undefined ? await keep(MONITOR_FILE) : undefined;
  const organization = bootstrap.organization ?? FIRST_ORGANIZATION;
  const application = bootstrap.application ?? FIRST_APPLICATION;
  const monitor = bootstrap.monitorApplication ?? FIRST_MONITOR;
  const named = [organization, ...portal.organizations.map(({ name }) => name)].map(foldedName);
  const missing = providerOrganizations(settings).filter((name) => !named.includes(foldedName(name)));
  const mailFolder = smtp.host === undefined ? join(storage.root, 'mail') : undefined;
  return {
    keys: [
      { organization, application, stored: applicationSecret },
      { organization: SYSTEM_ORGANIZATION, application: monitor, stored: monitorSecret },
    ],
    mailFolder,
    warnings: [
      ...(signing.trust.roots.length > 0 ? [] : [withoutRoots(portal.allowUnprovenCertificates)]),
      ...portalNotices(settings).map(({ says, remedy }) => `${says} ${remedy}`),
    ],
    options: {
      root: join(storage.root, 'portal'),
      objects: parts.objects,
      profiles: signing.profiles,
      trust: signing.trust,
      ...(signing.sealProfile !== undefined && { sealProfile: signing.sealProfile }),
      secret: Buffer.from(secret.value, 'base64url'),
      publicUrl: parts.publicUrl,
      identifiers: portal.identifiers,
      allowUnproven: portal.allowUnprovenCertificates,
      signingProviders: portal.signingProviders.map(({ title, proxyEnvVar, ...provider }) => {
        return { ...provider, origin: 'operator', title: title ?? provider.name, proxy: proxyEnvVar?.value };
      }),
      uploadMaxBytes: portal.uploadMaxBytes,
      notifyParticipants: portal.notifyParticipants,
      tenants: {
        organizations: [...portal.organizations, ...missing.map((name) => ({ name }))],
        applications: [
          {
            organization,
            application,
            role: 'Normal',
            secret: bootstrap.secret ?? applicationSecret?.value ?? '',
            from: bootstrap.secret === undefined ? 'stored' : 'configured',
          },
          {
            organization: SYSTEM_ORGANIZATION,
            application: monitor,
            role: 'Monitor',
            secret: bootstrap.monitorSecret ?? monitorSecret?.value ?? '',
            from: bootstrap.monitorSecret === undefined ? 'stored' : 'configured',
          },
        ],
      },
      mailer:
        mailFolder === undefined
          ? relay(smtp, parts.clock)
          : createMailFolder(mailFolder, { clock: parts.clock, keep: MAIL_RETENTION_DAYS * DAY_MS }),
      erasures: {
        read: () => keys.read(ERASURES_FILE),
        keep: (text) => keys.replace(ERASURES_FILE, text),
      },
      sender: smtp.from ?? DEVELOPMENT_SENDER,
      messageGateway: gatewayOf(portal.messageGateway),
      userSessionHours: settings.auth.sessionHours,
      identity: {
        sessionMinutes: settings.identity.sessionMinutes,
        closed: settings.identity.localSignIn ? [] : providerOrganizations(settings),
      },
      webhooks: {
        allowPrivate: portal.webhookAllowPrivate,
        concludedDelay: portal.webhookConcludedDelaySeconds * 1000,
      },
    },
  };
}

/** Names of organizations whose users can sign in at a provider. */
function providerOrganizations({ identity }: Settings): readonly string[] {
  return [...new Set(identity.providers.flatMap(({ organization }) => organization ?? []))];
}

/** Undefined without an address. */
function gatewayOf({ url, secret, messagesPerDay }: Settings['portal']['messageGateway']) {
  return url === undefined ? undefined : { url, secret: secret ?? '', perDay: messagesPerDay };
}

function withoutRoots(allowed: boolean): string {
  return allowed
    ? 'Participants may sign with any certificate: Signing:Trust names no roots. Portal:AllowUnprovenCertificates=false refuses them.'
    : 'Participants cannot sign with certificates of their own: Signing:Trust names no roots that could vouch for them.';
}

function relay(smtp: Settings['portal']['smtp'], clock: Clock): Mailer {
  const { host = '', secure, user, password } = smtp;
  return createSmtpMailer({
    host,
    port: smtp.port ?? (secure ? 465 : 587),
    secure,
    name: hostname(),
    clock,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
  });
}
