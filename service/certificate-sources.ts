/**
 * Where the certificate and key of a profile come from: what the configuration names, or what is made for development.
 * Source: batch-gaps §6.2; running.md, `Signing:AllowSelfSigned`.
 */
import { type KeySource, makeDevelopmentCertificates } from '../crypto/index.ts';
import { type Clock, Fatal, type Ids } from '../runtime/index.ts';
import type { CertificateSettings, Settings } from '../settings.ts';
import type { KeyFolder } from './key-folder.ts';

/** Certificate, issuer and key of the development signer, in one file so that they are made together or not at all. */
const DEVELOPMENT_FILE = 'development-signer.pem';
/** The development CA alone, for verifiers that are to trust it. */
const DEVELOPMENT_CA_FILE = 'development-ca.pem';

export interface DescribedSource {
  readonly keys: KeySource;
  /** The file with the certificate. */
  readonly path: string;
  /** Made here. */
  readonly development: boolean;
}

/** Undefined when the configuration names no certificate. */
export function sourceOf({ source, pfx, pem, pkcs11 }: CertificateSettings): DescribedSource | undefined {
  if (source === 'Pfx') {
    if (pfx.path === undefined) return undefined;
    const { path, password, thumbprint } = pfx;
    return {
      keys: { source: 'Pfx', path, password, ...(thumbprint !== undefined && { thumbprint }) },
      path,
      development: false,
    };
  }
  if (source === 'Pkcs11') {
    const { modulePath, thumbprint, pinEnvVar, maxSessions } = pkcs11;
    if (modulePath === undefined || thumbprint === undefined) return undefined;
    return {
      keys: { source, modulePath, thumbprint, pin: pinEnvVar.value, maxSessions },
      path: modulePath,
      development: false,
    };
  }
  if (pem.certificatePath === undefined || pem.keyPath === undefined) return undefined;
  const password = pem.keyPasswordEnvVar?.value;
  return {
    keys: {
      source: 'Pem',
      certificatePath: pem.certificatePath,
      keyPath: pem.keyPath,
      ...(password !== undefined && { password }),
    },
    path: pem.certificatePath,
    development: false,
  };
}

/**
 * Certificates made here at first start and kept.
 * @throws {Fatal} `signing.no-certificate` where that is not allowed; `keys.unusable`
 */
export async function developmentSource(
  settings: Settings,
  keys: KeyFolder,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): Promise<DescribedSource> {
  if (!settings.signing.allowSelfSigned) {
    throw new Fatal(
      'signing.no-certificate',
      'No signing certificate is configured. Set Signing:Certificate, or Signing:AllowSelfSigned=true to have one made for development.',
    );
  }
  let authority: string | undefined;
  const signer = await keys.keep(DEVELOPMENT_FILE, async () => {
    const made = await makeDevelopmentCertificates({
      label: 'sealwright',
      now: clock.now(),
      random: (length) => ids.bytes(length),
    });
    authority = made.caCertificate;
    return `${made.certificate.trim()}\n${made.caCertificate.trim()}\n${made.key.trim()}`;
  });
  if (authority !== undefined) {
    const pem = authority.trim();
    await keys.keep(DEVELOPMENT_CA_FILE, () => pem);
  }
  return {
    keys: { source: 'Pem', certificatePath: signer.path, keyPath: signer.path },
    path: signer.path,
    development: true,
  };
}
