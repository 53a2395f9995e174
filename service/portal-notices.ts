/**
 * Settings of the portal that work, but not as an operator means them. Start, `sealwright doctor` and, where mails are
 * concerned, `GET /api/ready` report them.
 *
 * Source: docs/operations.md, "Before production".
 */
import { type Settings, sealLevel } from '../settings.ts';

export interface PortalNotice {
  readonly name: 'portal:links' | 'portal:mail' | 'portal:seal';
  readonly says: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Hosts that stand for all addresses of a machine. */
const ALL_ADDRESSES = new Set(['0.0.0.0', '::']);

export function portalNotices(settings: Settings): readonly PortalNotice[] {
  const { portal, production } = settings;
  if (!portal.enabled) return [];
  const notices: PortalNotice[] = [];
  if (portal.publicUrl === undefined && ALL_ADDRESSES.has(portal.url.host))
    notices.push({
      name: 'portal:links',
      says: `The links in e-mails begin with ${portal.url.href}, which leads nowhere on other machines.`,
      cause: 'Portal:Url stands for all addresses of this machine, and Portal:PublicUrl is not set.',
      remedy: 'Set Portal:PublicUrl to the address that participants open, such as https://sign.example.org.',
    });
  if (production && portal.smtp.host === undefined)
    notices.push({
      name: 'portal:mail',
      says: 'No e-mail reaches anybody: all are written to files.',
      cause: 'Portal:Smtp:Host is not set.',
      remedy: 'Set Portal:Smtp:Host and Portal:Smtp:From, and user and password where the relay needs them.',
    });
  if (production && sealLevel(settings) === 'B')
    notices.push({
      name: 'portal:seal',
      says: 'Seals of level B end with their certificate: from then on, concluded documents are shown as not valid.',
      cause: 'The signing profile of the seal has no time-stamp authority, no trusted roots, or the Level B.',
      remedy:
        'Set Timestamp:Url of the profile that seals, and the root of that authority in Signing:Trust:Roots; the level is then LTA.',
    });
  return notices;
}
