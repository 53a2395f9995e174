/**
 * From the configuration to signing profiles with their keys loaded.
 * Source: batch-gaps §6.1 ("Default profile") and §6.2; running.md, `Signing:AllowSelfSigned`.
 */
import type { LocalProfile, Profile } from './actors/index.ts';
import { type KeySource, loadSigner, makeDevelopmentCertificates } from './crypto/index.ts';
import type { KeyFolder } from './key-folder.ts';
import type { ProfileName } from './machines/ids.ts';
import { type Clock, Fatal, type Ids } from './runtime/index.ts';
import type { Settings } from './settings.ts';

export interface SigningSetup {
  readonly profiles: readonly Profile[];
  readonly certificate: { readonly subject: string; readonly path: string; readonly development: boolean };
  readonly warnings: readonly string[];
}

/** Certificate, issuer and key of the development signer, in one file so that they are made together or not at all. */
export const DEVELOPMENT_FILE = 'development-signer.pem';
/** The development CA alone, for verifiers that are to trust it. */
export const DEVELOPMENT_CA_FILE = 'development-ca.pem';

const DAY = 86_400_000;
/** A certificate that ends sooner is announced at every start. Source: batch-gaps §6.2. */
const EXPIRY_NOTICE_DAYS = 30;

/**
 * Loads the one profile this version has: `default`, its format told by each file's name.
 * @throws {Fatal} `signing.no-certificate`; {CryptoError} the reason a key cannot be used
 */
export async function setUpSigning(
  settings: Settings,
  keys: KeyFolder,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<SigningSetup> {
  const now = parts.clock.now();
  const configured = configuredSource(settings);
  const source = configured ?? (await developmentSource(settings, keys, parts));
  const loaded = await loadSigner(source.keys, now);
  const warnings: string[] = [];
  if (loaded.root === undefined) {
    warnings.push(
      `The certificate of ${source.path} comes without its root; the chain of new signatures is not checked.`,
    );
  }
  const daysLeft = Math.floor((loaded.notAfter - now) / DAY);
  if (daysLeft < EXPIRY_NOTICE_DAYS)
    warnings.push(`The signing certificate expires in ${daysLeft} days: ${loaded.subject}`);
  const profile: LocalProfile = {
    method: 'Local',
    verify: true,
    encrypt: false,
    name: 'default' as ProfileName,
    format: undefined,
    signer: loaded,
    anchors: loaded.root ? [loaded.root] : [],
    validTo: loaded.notAfter,
    certificate: `${loaded.subject}, valid until ${new Date(loaded.notAfter).toISOString()}`,
  };
  return {
    profiles: [profile],
    certificate: {
      subject: loaded.subject,
      path: source.path,
      development: configured === undefined,
    },
    warnings,
  };
}

interface DescribedSource {
  readonly keys: KeySource;
  /** The file with the certificate. */
  readonly path: string;
}

function configuredSource({ signing }: Settings): DescribedSource | undefined {
  const { source, pfx, pem } = signing.certificate;
  if (source === 'Pfx') {
    if (pfx.path === undefined) return undefined;
    return { keys: { source: 'Pfx', path: pfx.path, password: pfx.password }, path: pfx.path };
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
  };
}

async function developmentSource(
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
  };
}
