/**
 * From the configuration to signing profiles with their keys loaded.
 * Source: batch-gaps §6.2 and §6.5.
 */
import { X509Certificate } from 'node:crypto';
import type { LocalProfile, Profile, TrustOptions } from '../actors/index.ts';
import { envelopeKey, type LoadedSigner, loadSigner, waysUp } from '../crypto/index.ts';
import { type Clock, describeFailure, Fatal, type Ids } from '../runtime/index.ts';
import type { Settings } from '../settings.ts';
import { type DescribedSource, developmentSource, sourceOf } from './certificate-sources.ts';
import { type Declared, declaredProfiles } from './declared-profiles.ts';
import type { KeyFolder } from './key-folder.ts';
import { readTrust } from './signing-trust.ts';

export interface SigningSetup {
  readonly profiles: readonly Profile[];
  readonly trust: TrustOptions;
  /** Of the profile used when none is named, or else of the first that signs here; `path` is empty when none does. */
  readonly certificate: { readonly subject: string; readonly path: string; readonly development: boolean };
  readonly warnings: readonly string[];
  /** Certificates of profiles that end within `EXPIRY_NOTICE_DAYS`, a sentence each. */
  readonly expiring: readonly string[];
}

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
  const expiring: string[] = [];
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
      warnings.push(...warningsAbout(profile, signer, source, trust));
      const daysLeft = Math.floor((signer.notAfter - now) / DAY);
      if (daysLeft < EXPIRY_NOTICE_DAYS)
        expiring.push(
          `The certificate of signing profile ${profile.name} expires in ${daysLeft} days: ${signer.subject}`,
        );
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
    expiring,
  };
}

function signsHere(profile: Profile): profile is LocalProfile {
  return profile.method === 'Local';
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
  return warnings;
}

/** Once, at start; kept in memory alone. Undefined when outputs are not encrypted. Source: batch-gaps §9. */
export async function deriveEncryptionKey({ encryption }: Settings): Promise<Buffer | undefined> {
  if (!encryption.enabled) return undefined;
  const { password, passwordEnvVar, salt, iterations } = encryption;
  return envelopeKey(passwordEnvVar.value || password, Buffer.from(salt, 'base64'), iterations);
}
