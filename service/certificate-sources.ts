/**
 * Sources of the certificate and key of a profile: the configuration, or generated for development.
 * Source: docs/batch-values.md §6.2; docs/configuration.md, `Signing:AllowSelfSigned`.
 */

import { type Clock, Fatal, type Ids } from '@sealwright/runtime/core';
import { type KeySource, makeDevelopmentCertificates } from '@sealwright/signatures';
import type { ServiceSigner } from '../actors/index.ts';
import type { CertificateSettings, Settings } from '../settings.ts';
import type { KeyFolder } from './key-folder.ts';

/** Certificate, issuer and key of the development signer, in one file so that they are created atomically. */
const DEVELOPMENT_FILE = 'development-signer.pem';
/** The development CA alone, for verifiers that should trust it. */
export const DEVELOPMENT_CA_FILE = 'development-ca.pem';

/** Signatures asked of one service at the same time, as many as `Pipeline:MaxConcurrency` may be. */
const MAX_IN_FLIGHT = 32;

/** A key at a service, and the file with its certificate. */
export interface ServiceKeySource extends Pick<ServiceSigner, 'limits' | 'isTried' | 'proxy'> {
  readonly source: ServiceSigner['place']['service'];
  readonly certificatePath: string;
  readonly place: ServiceSigner['place'];
}

export interface CertificateSource {
  readonly keys: KeySource | ServiceKeySource;
  /** The file with the certificate. */
  readonly path: string;
  /** Files of certificate and key, each with the configuration key that names it, for people. */
  readonly files: string;
  /** Place of the password or the PIN, with its configuration key, for people. @default `files` */
  readonly secret?: string;
  /** True: generated for development. */
  readonly development: boolean;
}

/**
 * Undefined when the configuration names no certificate.
 * @param key the configuration key of `certificate`, for messages
 */
export function sourceOf(certificate: CertificateSettings, key: string): CertificateSource | undefined {
  const { source, pfx, pem, pkcs11 } = certificate;
  const named = (member: string, value: string) => `${value} (${key}:${member})`;
  if (source === 'Pfx') {
    if (pfx.path === undefined) return undefined;
    const { path, password, thumbprint } = pfx;
    return {
      keys: { source: 'Pfx', path, password, ...(thumbprint !== undefined && { thumbprint }) },
      path,
      files: named('Pfx:Path', path),
      secret: `${key}:Pfx:Password`,
      development: false,
    };
  }
  if (source === 'Pkcs11') {
    const { modulePath, thumbprint, pinEnvVar, maxSessions } = pkcs11;
    if (modulePath === undefined || thumbprint === undefined) return undefined;
    return {
      keys: { source, modulePath, thumbprint, pin: pinEnvVar.value, maxSessions },
      path: modulePath,
      files: `${named('Pkcs11:ModulePath', modulePath)} or ${named('Pkcs11:Thumbprint', thumbprint)}`,
      secret: `the PIN in ${pinEnvVar.variable} (${key}:Pkcs11:PinEnvVar)`,
      development: false,
    };
  }
  if (source !== 'Pem') return serviceSourceOf(source, certificate, named);
  if (pem.certificatePath === undefined || pem.keyPath === undefined) return undefined;
  const { variable, value: password } = pem.keyPasswordEnvVar ?? {};
  return {
    keys: {
      source: 'Pem',
      certificatePath: pem.certificatePath,
      keyPath: pem.keyPath,
      ...(password !== undefined && { password }),
    },
    path: pem.certificatePath,
    files: `${named('Pem:CertificatePath', pem.certificatePath)} and ${named('Pem:KeyPath', pem.keyPath)}`,
    secret: `the password in ${variable ?? 'a variable'} (${key}:Pem:KeyPasswordEnvVar)`,
    development: false,
  };
}

function serviceSourceOf(
  source: ServiceKeySource['source'],
  { keyService, pem: { certificatePath } }: CertificateSettings,
  named: (member: string, value: string) => string,
): CertificateSource | undefined {
  const { key } = keyService;
  if (key === undefined || certificatePath === undefined) return undefined;
  return {
    keys: {
      source,
      certificatePath,
      place: placeOf(source, key, keyService),
      limits: { maxInFlight: MAX_IN_FLIGHT, timeoutMs: keyService.timeoutSeconds * 1000 },
      isTried: keyService.trySignature,
      ...(keyService.proxyEnvVar !== undefined && { proxy: keyService.proxyEnvVar.value }),
    },
    path: certificatePath,
    files: `${named('Pem:CertificatePath', certificatePath)} and ${named('KeyService:Key', key)}`,
    ...(source === 'Csc' && { secret: 'CSC_PIN' }),
    development: false,
  };
}

function placeOf(
  service: ServiceKeySource['source'],
  key: string,
  { address, region, namespace, tokenPath, tokenEnvVar }: CertificateSettings['keyService'],
): ServiceSigner['place'] {
  switch (service) {
    case 'Vault':
      return { service, address: address ?? '', key, namespace, tokenPath, token: tokenEnvVar.value };
    case 'AwsKms':
      return { service, key, region, address };
    case 'AzureKeyVault':
    case 'Csc':
      return { service, key, address: address ?? '' };
    case 'GoogleKms':
      return { service, key, address };
  }
}

/**
 * Loads or generates the development certificates.
 * @throws {Fatal} `signing.no-certificate` where that is not allowed; `keys.unusable`
 */
export async function developmentSource(
  settings: Settings,
  keys: KeyFolder,
  { clock, ids }: { clock: Clock; ids: Ids },
): Promise<CertificateSource> {
  if (!settings.signing.allowSelfSigned) {
    throw new Fatal(
      'signing.no-certificate',
      'No signing certificate is configured. Set Signing:Certificate, or Signing:AllowSelfSigned=true to have one made for development.',
    );
  }
  let authority: string | undefined;
  const signer = await keys.loadOrCreate(DEVELOPMENT_FILE, async () => {
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
    await keys.loadOrCreate(DEVELOPMENT_CA_FILE, () => pem);
  }
  return {
    keys: { source: 'Pem', certificatePath: signer.path, keyPath: signer.path },
    path: signer.path,
    files: `${signer.path} (Signing:AllowSelfSigned; a removed file is made anew)`,
    development: true,
  };
}
