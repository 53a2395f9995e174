/**
 * From the configuration to signing profiles with their keys loaded.
 * Source: batch-gaps §6.1 ("Default profile"), §6.2 and §6.5; running.md, `Signing:AllowSelfSigned`.
 */
import { X509Certificate } from 'node:crypto';
import type { LocalProfile, Profile, RemoteProfile, SigningChoices, TrustOptions } from './actors/index.ts';
import {
  envelopeKey,
  type KeySource,
  type LoadedSigner,
  loadSigner,
  makeDevelopmentCertificates,
  waysUp,
} from './crypto/index.ts';
import type { KeyFolder } from './key-folder.ts';
import type { ProfileName } from './machines/ids.ts';
import { type Clock, describeFailure, Fatal, type Ids } from './runtime/index.ts';
import { type CertificateSettings, digestIn, type ProfileSettings, type Settings } from './settings.ts';
import { readTrust } from './signing-trust.ts';

export interface SigningSetup {
  readonly profiles: readonly Profile[];
  readonly trust: TrustOptions;
  /** Of the profile used when none is named, or else of the first that signs here; `path` is empty when none does. */
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
 * Loads the keys of all profiles, and what is trusted.
 * @throws {Fatal} `signing.no-certificate`; `signing.unusable` with one line for each profile and trusted file that
 *   cannot be used
 */
export async function setUpSigning(
  settings: Settings,
  keys: KeyFolder,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<SigningSetup> {
  const now = parts.clock.now();
  const { trust, faults: untrusted } = readTrust(settings);
  const faults = [...untrusted];
  const warnings: string[] = [];
  const profiles: Profile[] = [];
  const paths = new Map<Profile, DescribedSource>();
  for (const declared of declaredProfiles(settings)) {
    if (declared.method === 'RemoteSigner') {
      profiles.push(declared.profile);
      continue;
    }
    const source = sourceOf(declared.certificate) ?? (await developmentSource(settings, keys, parts));
    try {
      const signer = await loadSigner(source.keys, now);
      const profile = localProfile(declared, signer, source, trust);
      profiles.push(profile);
      paths.set(profile, source);
      warnings.push(...warningsAbout(profile, signer, source, trust, now));
    } catch (error) {
      faults.push(`Signing profile ${declared.name}: ${describeFailure(error).message}`);
    }
  }
  if (faults.length > 0) throw new Fatal('signing.unusable', faults.join('\n'));
  const signing = profiles.filter(signsHere);
  const shown = signing.find(({ name }) => name === 'default') ?? signing[0];
  const source = shown && paths.get(shown);
  return {
    profiles,
    trust,
    certificate: {
      subject: shown?.facts?.subject ?? 'none, every profile is signed on the remote portal',
      path: source?.path ?? '',
      development: source?.development ?? false,
    },
    warnings,
  };
}

function signsHere(profile: Profile): profile is LocalProfile {
  return profile.method === 'Local';
}

/** A profile that signs here, before its key is loaded. */
interface Declared {
  readonly method: 'Local';
  readonly name: ProfileName;
  readonly certificate: CertificateSettings;
  readonly validateCertificate: boolean;
  readonly choices: SigningChoices;
  readonly base: Pick<LocalProfile, 'format' | 'verify' | 'encrypt' | 'form'>;
}

type DeclaredProfile = Declared | { readonly method: 'RemoteSigner'; readonly profile: RemoteProfile };

/** Without any there is one, `default`, whose format is told by each file's name. */
function declaredProfiles({ signing, encryption, remoteSigner }: Settings): readonly DeclaredProfile[] {
  if (signing.profiles.length > 0)
    return signing.profiles.map((profile) =>
      declaredProfile(profile, encryption.enabled, remoteSigner.compareContent),
    );
  return [
    {
      method: 'Local',
      name: 'default' as ProfileName,
      certificate: signing.certificate,
      validateCertificate: true,
      choices: {},
      base: { format: undefined, verify: true, encrypt: encryption.enabled },
    },
  ];
}

function declaredProfile(
  settings: ProfileSettings,
  encrypted: boolean,
  compareContent: boolean,
): DeclaredProfile {
  const { name, format, verify, encrypt = encrypted } = settings;
  const { preserveFileExtension, saveAsPem, detached } = settings;
  const base = { format, verify, encrypt, form: { preserveFileExtension, saveAsPem, detached } };
  if (settings.method === 'RemoteSigner') {
    const {
      name: person = '',
      email = '',
      identifier = '',
      allowElectronicSignature,
    } = settings.remoteSigner;
    const participant = { name: person, email, identifier, allowElectronicSignature };
    return {
      method: 'RemoteSigner',
      profile: { ...base, method: 'RemoteSigner', name, anchors: [], participant, compareContent },
    };
  }
  return {
    method: 'Local',
    name,
    certificate: settings.certificate,
    validateCertificate: settings.validateCertificate ?? true,
    choices: choicesOf(settings),
    base,
  };
}

const DIGESTS = { SHA256: 'sha256', SHA384: 'sha384', SHA512: 'sha512' } as const;
const DIGEST_BYTES = { SHA256: 32, SHA384: 48, SHA512: 64 } as const;

function choicesOf(settings: ProfileSettings): SigningChoices {
  const { level, digestAlgorithm, includeChain, timestamp, policy, pades, xades } = settings;
  const { url, username, password, timeoutSeconds } = timestamp;
  const { oid, hash = '', hashAlgorithm, uri } = policy;
  const digest = digestIn(hash, DIGEST_BYTES[hashAlgorithm]);
  const { elementId } = xades;
  return {
    level,
    includeChain,
    ...(digestAlgorithm !== undefined && { digest: DIGESTS[digestAlgorithm] }),
    ...(url !== undefined && {
      timestamp: {
        url,
        timeoutMs: timeoutSeconds * 1000,
        ...(username !== undefined && { username, password }),
      },
    }),
    ...(oid !== undefined &&
      digest !== undefined && {
        policy: { oid, digest: DIGESTS[hashAlgorithm], hash: digest, ...(uri !== undefined && { uri }) },
      }),
    pades: {
      ...(pades.reason !== undefined && { reason: pades.reason }),
      ...(pades.location !== undefined && { location: pades.location }),
      ...(pades.contactInfo !== undefined && { contactInfo: pades.contactInfo }),
      ...(pades.fieldName !== undefined && { fieldName: pades.fieldName }),
    },
    ...(elementId !== undefined && { xades: { packaging: 'element', elementId } as const }),
  };
}

/** Without roots, the top of the certificate's own chain is the anchor. Source: batch-gaps §6.5. */
function localProfile(
  declared: Declared,
  loaded: LoadedSigner,
  source: DescribedSource,
  trust: TrustOptions,
): LocalProfile {
  const own = loaded.root ?? loaded.chain.at(-1) ?? loaded.certificate;
  // What was made here for development is trusted here.
  const trusted = trust.roots.length === 0 || source.development ? [own, ...trust.roots] : trust.roots;
  const { anchors, chain } = waysUp(loaded, { anchors: trusted, intermediates: trust.intermediates });
  const signer = chain.length > loaded.chain.length ? { ...loaded, chain } : loaded;
  const { name, validateCertificate, choices, base } = declared;
  const { subject, thumbprint, notAfter } = loaded;
  return {
    ...base,
    method: 'Local',
    name,
    signer,
    choices,
    validateCertificate,
    // Roots that are not above it are kept, so that its chain fails and is not left out.
    anchors: !validateCertificate ? [] : anchors.length > 0 ? anchors : trusted,
    facts: { source: source.development ? 'Development' : source.keys.source, subject, thumbprint, notAfter },
    validTo: notAfter,
    certificate: `${subject}, valid until ${new Date(notAfter).toISOString()}`,
  };
}

function warningsAbout(
  { name, validateCertificate }: LocalProfile,
  loaded: LoadedSigner,
  source: DescribedSource,
  { roots, intermediates }: TrustOptions,
  now: number,
): readonly string[] {
  const warnings: string[] = [];
  const { issuer, subject } = new X509Certificate(loaded.certificate);
  if (issuer === subject) {
    warnings.push(`The certificate of signing profile ${name} is self-signed: ${loaded.subject}`);
  } else if (validateCertificate && !source.development && roots.length === 0) {
    warnings.push(
      `No Signing:Trust:Roots are configured: signing profile ${name} trusts the top of its own certificate chain.`,
    );
  }
  if (roots.length > 0 && validateCertificate && !source.development) {
    const { anchors } = waysUp(loaded, { anchors: roots, intermediates });
    if (anchors.length === 0)
      warnings.push(
        `The certificate of signing profile ${name} leads to none of the Signing:Trust:Roots; its jobs will fail.`,
      );
  }
  for (const { code, text } of loaded.warnings) {
    // Where roots are configured, the chain is looked for among them too.
    if (code !== 'chain.incomplete' || roots.length === 0) warnings.push(`Signing profile ${name}: ${text}`);
  }
  const daysLeft = Math.floor((loaded.notAfter - now) / DAY);
  if (daysLeft < EXPIRY_NOTICE_DAYS)
    warnings.push(
      `The certificate of signing profile ${name} expires in ${daysLeft} days: ${loaded.subject}`,
    );
  return warnings;
}

interface DescribedSource {
  readonly keys: KeySource;
  /** The file with the certificate. */
  readonly path: string;
  /** Made here. */
  readonly development: boolean;
}

function sourceOf({ source, pfx, pem, pkcs11 }: CertificateSettings): DescribedSource | undefined {
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

/** Once, at start; kept in memory alone. Undefined when outputs are not encrypted. Source: batch-gaps §9. */
export async function deriveEncryptionKey({ encryption }: Settings): Promise<Buffer | undefined> {
  if (!encryption.enabled) return undefined;
  const { password, passwordEnvVar, salt, iterations } = encryption;
  return envelopeKey(passwordEnvVar.value || password, Buffer.from(salt, 'base64'), iterations);
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
    development: true,
  };
}
