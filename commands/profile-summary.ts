/** The signing profiles a configuration makes, on a line each: what `check-config` shows below the keys. */
import type { CertificateSettings, Settings } from '../settings.ts';

export interface ProfileSummary {
  readonly name: string;
  /** Null: decided by the extension of each file. */
  readonly format: string | null;
  readonly method: 'Local' | 'RemoteSigner';
  /** Place where the certificate comes from: source and path; `Development` for one that is made here; null for none. */
  readonly certificate: string | null;
  readonly level: string | null;
  readonly verify: boolean;
  readonly verifyIndependently: boolean;
  readonly validateCertificate: boolean;
  readonly encrypt: boolean;
}

/** Without declared profiles there is one. Source: docs/batch-values.md §6.1. */
export function profileSummaries({ signing, encryption }: Settings): readonly ProfileSummary[] {
  if (signing.profiles.length === 0) {
    return [
      {
        name: 'default',
        format: null,
        method: 'Local',
        certificate: sourceText(signing.certificate),
        level: 'B',
        verify: true,
        verifyIndependently: false,
        validateCertificate: true,
        encrypt: encryption.enabled,
      },
    ];
  }
  return signing.profiles.map((profile) => {
    const local = profile.method === 'Local';
    return {
      name: profile.name,
      format: profile.format,
      method: profile.method,
      certificate: local ? sourceText(profile.certificate) : null,
      level: local ? (profile.level ?? 'B') : null,
      verify: profile.verify,
      verifyIndependently: profile.verifyIndependently,
      validateCertificate: local && profile.validateCertificate !== false,
      encrypt: profile.encrypt ?? encryption.enabled,
    };
  });
}

function sourceText({ source, pfx, pem, pkcs11 }: CertificateSettings): string {
  const path = { Pfx: pfx.path, Pem: pem.certificatePath, Pkcs11: pkcs11.modulePath }[source];
  return path === undefined ? 'Development' : `${source} ${path}`;
}

/** One line, for people. */
export function summaryText(profile: ProfileSummary): string {
  const { name, format, method, certificate, level } = profile;
  const flags = [
    profile.verify ? 'verified' : 'not verified',
    ...(profile.verifyIndependently ? ['verified independently'] : []),
    ...(method === 'Local'
      ? [profile.validateCertificate ? 'certificate validated' : 'certificate not validated']
      : []),
    ...(profile.encrypt ? ['encrypted'] : []),
  ];
  const parts = [
    `${format ?? 'format by extension'}${level === null ? '' : `, level ${level}`}`,
    method === 'Local' ? `signed here (${certificate})` : 'signed on the remote portal',
    ...flags,
  ];
  return `${name}: ${parts.join(', ')}`;
}
