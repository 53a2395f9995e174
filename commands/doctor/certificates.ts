/** Certificates: can be loaded with their keys, and are valid now and for a while. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Clock, describeFailure, Fatal, type Ids } from '@sealwright/runtime/core';
import { canSign, certificateProblem, type LocalProfile } from '../../actors/index.ts';
import { DAY_MS } from '../../contracts/times.ts';
import { sourceOf } from '../../service/certificate-sources.ts';
import type { KeyFolder } from '../../service/key-folder.ts';
import { loadSigning, portalProfiles, unshownLetters } from '../../service/signing-setup.ts';
import type { Settings } from '../../settings.ts';
import { bad, errorCode, type Finding, good } from './finding.ts';

const WARNING_DAYS = 30;

/**
 * Loads keys as the service does, from a folder in which nothing is made.
 * @param keys only read
 */
export async function checkSigningKeys(
  settings: Settings,
  keys: Pick<KeyFolder, 'path' | 'read'>,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<readonly Finding[]> {
  try {
    const loaded = await loadSigning(settings, readOnly(keys), parts);
    const { profiles, warnings, faults } = loaded;
    // Where both are false, the portal seals with the development certificate, which may not be made yet.
    const seals =
      profiles.some(({ method }) => method === 'Local') ||
      sourceOf(settings.signing.certificate, 'Signing:Certificate') !== undefined;
    const portal =
      settings.portal.enabled && seals
        ? await portalProfiles(settings, readOnly(keys), loaded, parts)
        : undefined;
    const now = parts.clock.now();
    const able = profiles.some((profile) => canSign(profile, now));
    return [
      ...profiles.flatMap((profile) =>
        profile.method === 'Local' ? [profileFinding(profile, now, able)] : [],
      ),
      ...unshownLetters(profiles).map((says) =>
        bad('warning', 'fonts', {
          says,
          cause:
            'The lines of the profile, or the name in its certificate, have letters that the installed fonts lack.',
          remedy: 'Install the package that is named, or change Pades:Appearance:Lines.',
        }),
      ),
      ...faults.map((says) =>
        bad('failed', 'trust', {
          says,
          cause: 'The service refuses to start with less trust than is configured.',
          remedy: 'Correct the path or the file, or remove the key.',
        }),
      ),
      ...[...warnings, ...(portal?.warnings ?? [])].map((says) =>
        bad('warning', 'certificates', {
          says,
          cause: 'The configuration allows it.',
          remedy: 'See Signing:Certificate and Signing:Trust in the reference of the configuration.',
        }),
      ),
    ];
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code === READ_ONLY_KEYS) {
      return [
        bad('warning', 'certificates', {
          says: 'No signing certificate is configured; the first start makes one for development.',
          cause: 'Signing:Certificate is not set, and Signing:AllowSelfSigned is true.',
          remedy: 'Set Signing:Certificate before signing anything that matters.',
        }),
      ];
    }
    return message.split('\n').map((says) =>
      bad('failed', 'certificates', {
        says,
        cause: 'There is no signing certificate.',
        remedy: 'Set Signing:Certificate, or correct the folder that the message names.',
      }),
    );
  }
}

/** `able`: another profile can sign, so that the service starts. */
function profileFinding(profile: LocalProfile, now: number, able: boolean): Finding {
  const name = `profile:${profile.name}`;
  const problem = certificateProblem(profile, now);
  const { keyTrouble } = profile;
  if (problem === undefined && keyTrouble !== undefined)
    return bad('failed', name, {
      says: keyTrouble.message,
      cause: 'The service runs, and jobs of this profile wait until its key signs.',
      remedy: 'Do what the message says; no restart is needed unless the configuration changes.',
    });
  if (problem === undefined)
    return validity(name, profile.facts?.subject ?? '', { notAfter: profile.validTo, now });
  return bad(able ? 'warning' : 'failed', name, {
    says: problem.message,
    cause: able
      ? 'The service runs, and jobs of this profile fail.'
      : 'The service refuses to start where no profile can sign.',
    remedy: problem.remedy,
  });
}

/** The certificate of https. */
export function checkTlsCertificate({ hosting }: Settings, now: number): readonly Finding[] {
  const { certificatePath } = hosting.tls;
  if (certificatePath === undefined) return [];
  try {
    const { subject, validTo } = new X509Certificate(readFileSync(certificatePath));
    const until = Date.parse(validTo);
    const takenUp = 'the service takes them up within a minute';
    return [validity('certificate:https', subject.replaceAll('\n', ', '), { notAfter: until, now, takenUp })];
  } catch (error) {
    return [
      bad('failed', 'certificate:https', {
        says: `${certificatePath} cannot be read as a certificate (${errorCode(error)}).`,
        cause: 'The file is missing, this user may not read it, or it is not PEM.',
        remedy: 'Correct Hosting:Tls:CertificatePath.',
      }),
    ];
  }
}

function validity(
  name: string,
  subject: string,
  {
    notAfter,
    now,
    takenUp = 'restart the service',
  }: { readonly notAfter: number; readonly now: number; readonly takenUp?: string | undefined },
): Finding {
  const until = new Date(notAfter).toISOString();
  const days = Math.floor((notAfter - now) / DAY_MS);
  if (notAfter <= now) {
    return bad('failed', name, {
      says: `${subject} expired on ${until}.`,
      cause: 'The certificate is valid for a limited time, which has ended.',
      remedy: `Put a new certificate and key in its place; ${takenUp}.`,
    });
  }
  if (days >= WARNING_DAYS) return good(name, `${subject} is valid until ${until}.`);
  return bad('warning', name, {
    says: `${subject} expires in ${days} days, on ${until}.`,
    cause: 'The certificate ends soon.',
    remedy: `Order a new certificate now, put it and its key in place; ${takenUp}.`,
  });
}

const READ_ONLY_KEYS = 'doctor.nothing-made';

function readOnly(keys: Pick<KeyFolder, 'path' | 'read'>): KeyFolder {
  const refuse = () => {
    throw new Fatal(READ_ONLY_KEYS, 'Nothing is made here.');
  };
  return {
    path: keys.path,
    read: (name) => keys.read(name),
    async loadOrCreate(name) {
      const value = keys.read(name);
      return value === undefined ? refuse() : { value, made: false, path: `${keys.path}/${name}` };
    },
    replace: refuse,
  };
}
