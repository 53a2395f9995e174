/**
 * Maps the configuration to signing profiles with their keys loaded.
 * Source: docs/batch-values.md §6.2 and §6.5.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Clock, describeFailure, Fatal, type Ids } from '@sealwright/runtime/core';
import {
  buildCertificationPaths,
  certificatesInBundle,
  completeChain,
  envelopeKey,
  holderName,
  identityOf,
  type LoadedIdentity,
  type LoadedSigner,
  letterWarnings,
  loadSigner,
  readCertificate,
} from '@sealwright/signatures';
import {
  type CertificateProblem,
  canSign,
  certificateProblem,
  checkServiceSigner,
  createAuthorityTransport,
  evidenceOver,
  isAtService,
  KEY_REFUSALS,
  type ListOptions,
  type LocalProfile,
  openServiceSigner,
  type Profile,
  type ServiceSigner,
  type TrustOptions,
} from '../actors/index.ts';
import { filledLines } from '../machines/batch/signing-parameters.ts';
import type { Millis, ProfileName } from '../machines/ids.ts';
import { type Settings, sealLevel, sealProfileSettings } from '../settings.ts';
import {
  type CertificateSource,
  developmentSource,
  type ServiceKeySource,
  sourceOf,
} from './certificate-sources.ts';
import { type DeclaredSigner, declaredProfiles } from './declared-profiles.ts';
import type { KeyFolder } from './key-folder.ts';
import { type KeyOnDisk, keyOnDisk } from './keys-on-disk.ts';
import { readTrust } from './signing-trust.ts';

const DAY_MS = 86_400_000;

export interface SigningSetup {
  readonly profiles: readonly Profile[];
  readonly trust: TrustOptions;
  /** Undefined: no trusted lists are configured. */
  readonly lists: ListOptions | undefined;
  /** Certificate of the default profile, or else of the first local profile; `path` is empty when there is none. */
  readonly certificate: { readonly subject: string; readonly path: string; readonly development: boolean };
  readonly warnings: readonly string[];
  /** By profile: whether the next start could load its key. */
  readonly onDisk: ReadonlyMap<ProfileName, KeyOnDisk>;
  /** Warnings about certificates of profiles that end within `EXPIRY_NOTICE_DAYS`, a sentence each. */
  readonly expiring: readonly string[];
}

/** Days before its end from which a certificate is reported at every start. Source: docs/batch-values.md §6.2. */
const EXPIRY_NOTICE_DAYS = 30;

/**
 * Loads the keys of all profiles, and what is trusted. A profile whose certificate cannot be used is among them, with a
 * warning: its jobs fail and say why, and the other profiles sign.
 * @throws {Fatal} `signing.no-certificate`; `signing.unusable` where no profile can sign, or where a trusted file cannot
 *   be read, with one line for each of them: with less trust than configured, other files would be accepted than meant
 */
export async function setUpSigning(
  settings: Settings,
  keys: KeyFolder,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<SigningSetup> {
  const { faults, ...setup } = await loadSigning(settings, keys, parts);
  const { profiles } = setup;
  const now = parts.clock.now();
  const broken = brokenProfiles(profiles, now);
  const able = profiles.some((profile) => canSign(profile, now));
  if (faults.length > 0 || !able)
    throw new Fatal('signing.unusable', [...faults, ...broken.map(({ sentence }) => sentence)].join('\n'));
  const jobsFail = broken.map(({ sentence }) => `${sentence} Until then its jobs fail.`);
  const jobsWait = waitingProfiles(profiles).map((sentence) => `${sentence} Until it signs, jobs wait.`);
  return { ...setup, warnings: [...jobsFail, ...jobsWait, ...setup.warnings] };
}

/** A sentence for each profile whose key at a service does not sign now. */
function waitingProfiles(profiles: readonly Profile[]): readonly string[] {
  return profiles
    .filter(signsHere)
    .flatMap(({ name, keyTrouble }) =>
      keyTrouble === undefined ? [] : [`Signing profile ${name}: ${keyTrouble.message}`],
    );
}

/** Lists the profiles that cannot sign at `now`, each with a sentence for people. */
function brokenProfiles(
  profiles: readonly Profile[],
  now: Millis,
): readonly { readonly name: ProfileName; readonly sentence: string }[] {
  return profiles.filter(signsHere).flatMap((profile) => {
    const problem = certificateProblem(profile, now);
    if (problem === undefined) return [];
    return [
      {
        name: profile.name,
        sentence: `Signing profile ${profile.name}: ${problem.message} ${problem.remedy}`,
      },
    ];
  });
}

/** Loads files and tokens one after the other; key services are asked beside each other, as each may not answer for some seconds. */
async function loadingProfiles(
  settings: Settings,
  keys: KeyFolder,
  {
    trust,
    faults,
    ...parts
  }: { readonly trust: TrustOptions; readonly faults: string[]; readonly clock: Clock; readonly ids: Ids },
): Promise<
  readonly {
    readonly profile: Profile | Promise<Profile>;
    readonly source?: CertificateSource;
    readonly own: readonly string[];
  }[]
> {
  const found = [];
  for (const declared of declaredProfiles(settings, faults)) {
    if (declared.method === 'RemoteSigner') {
      found.push({ profile: declared.profile, own: [] });
      continue;
    }
    const source =
      sourceOf(declared.certificate, declared.certificateKey) ??
      (await developmentSource(settings, keys, parts));
    const own: string[] = [];
    const profile = loadProfile(declared, source, { trust, ...parts, warnings: own });
    if (!('place' in source.keys)) await profile;
    found.push({ profile, source, own });
  }
  return found;
}

/**
 * Loads the keys without deciding if the service may start.
 * @throws {Fatal} `signing.no-certificate`, `keys.unusable`
 */
export async function loadSigning(
  settings: Settings,
  keys: KeyFolder,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<SigningSetup & { readonly faults: readonly string[] }> {
  const now = parts.clock.now();
  const { trust, lists, faults: unread } = readTrust(settings);
  const faults = [...unread];
  const warnings: string[] = [];
  const expiring: string[] = [];
  const profiles: Profile[] = [];
  const paths = new Map<Profile, CertificateSource>();
  const onDisk = new Map<ProfileName, KeyOnDisk>();
  for (const { own, source, profile: loading } of await loadingProfiles(settings, keys, {
    trust,
    faults,
    ...parts,
  })) {
    const profile = await loading;
    warnings.push(...own);
    profiles.push(profile);
    if (source === undefined || !signsHere(profile) || profile.facts === undefined) continue;
    paths.set(profile, source);
    onDisk.set(profile.name, keyOnDisk(source, parts.clock));
    const daysLeft = Math.floor((profile.facts.notAfter - now) / DAY_MS);
    if (daysLeft >= 0 && daysLeft < EXPIRY_NOTICE_DAYS)
      expiring.push(
        `The certificate of signing profile ${profile.name} expires in ${daysLeft} days: ${profile.facts.subject}`,
      );
  }
  const signing = profiles.filter((profile) => signsHere(profile) && canSign(profile, now)).filter(signsHere);
  const shown = signing.find(({ name }) => name === 'default') ?? signing[0];
  const source = shown && paths.get(shown);
  return {
    profiles,
    trust,
    lists,
    certificate: {
      subject: shown?.facts?.subject ?? 'none; profiles are signed on the remote portal',
      path: source?.path ?? '',
      development: source?.development ?? false,
    },
    onDisk,
    warnings,
    expiring,
    faults,
  };
}

/**
 * Adds the issuers that did not come with the key, from the listed hosts (`Signing:Trust:AllowAia`), so that signatures
 * include them. Without them the profile signs nothing, and a warning says why.
 */
async function withIssuers(
  loaded: Loaded,
  trust: TrustOptions,
  {
    source: { development },
    clock,
    warnings,
  }: { readonly source: CertificateSource; readonly clock: Clock; readonly warnings: string[] },
): Promise<Loaded> {
  if (development || trust.roots.length === 0 || trust.issuerHosts.length === 0) return loaded;
  const transport = createAuthorityTransport({ clock, ...trust });
  try {
    const wanted = { anchors: trust.roots, intermediates: trust.intermediates };
    const source = evidenceOver(transport, trust, clock);
    const chain = await completeChain(loaded, wanted, source, clock.now());
    return chain.length > loaded.chain.length ? { ...loaded, chain } : loaded;
  } catch (error) {
    warnings.push(`No issuer could be fetched: ${describeFailure(error).message}`);
    return loaded;
  } finally {
    transport.close();
  }
}

const DEVELOPMENT_SEAL =
  'The portal seals electronic signatures with the development certificate, since no signing profile has the Method Local.';

/** Names of the profile below; no configured profile can have them. */
const SEAL_PROFILE = '(portal)' as ProfileName;
const DEVELOPMENT_PROFILE = '(development)' as ProfileName;

/** Profiles of the portal, and which of them seals. */
export interface PortalProfiles {
  readonly profiles: readonly Profile[];
  /** Undefined: the first one that signs here. */
  readonly sealProfile: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * Returns the profiles of the portal, at least one of which signs here: those of the service and, where its level differs, the
 * seal as a profile of its own; where none signs here, a profile of `Signing:Certificate` besides, or of the development
 * certificate. Undefined where that is not allowed. Source: docs/configuration.md, `Portal:SealProfile`.
 * @throws {Fatal} `keys.unusable`
 */
export async function portalProfiles(
  settings: Settings,
  keys: KeyFolder,
  { profiles, trust }: Pick<SigningSetup, 'profiles' | 'trust'>,
  parts: { readonly clock: Clock; readonly ids: Ids },
): Promise<PortalProfiles | undefined> {
  const { sealProfile } = settings.portal;
  if (profiles.some(signsHere)) {
    const level = sealLevel(settings);
    const named = sealProfileSettings(settings)?.name;
    const seal = profiles.filter(signsHere).find(({ name }) => name === named);
    if (seal === undefined || seal.choices?.level === level) return { profiles, sealProfile, warnings: [] };
    const name = `${seal.name} (portal)` as ProfileName;
    const own = { ...seal, name, choices: { ...seal.choices, level } };
    return { profiles: [...profiles, own], sealProfile: name, warnings: addressWarnings(own, trust.roots) };
  }
  const { certificate, allowSelfSigned } = settings.signing;
  const certificateKey = 'Signing:Certificate';
  const configured = sourceOf(certificate, certificateKey);
  if (configured === undefined && !allowSelfSigned) return undefined;
  const source = configured ?? (await developmentSource(settings, keys, parts));
  const declared: DeclaredSigner = {
    method: 'Local',
    name: configured === undefined ? DEVELOPMENT_PROFILE : SEAL_PROFILE,
    certificate,
    certificateKey,
    validateCertificate: true,
    choices: {},
    base: { format: undefined, verify: true, encrypt: false },
  };
  const warnings = configured === undefined ? [DEVELOPMENT_SEAL] : [];
  const own = await loadProfile(declared, source, { trust, ...parts, warnings });
  const broken = brokenProfiles([own], parts.clock.now());
  warnings.push(...broken.map(({ sentence }) => `${sentence} Until then the portal seals nothing.`));
  warnings.push(
    ...waitingProfiles([own]).map((sentence) => `${sentence} Until it signs, documents wait for their seal.`),
  );
  return { profiles: [...profiles, own], sealProfile, warnings };
}

/** A loaded signer with its key here or at a service. */
type Loaded = LoadedSigner | (ServiceSigner & LoadedIdentity);

async function loadServiceSigner({
  certificatePath,
  source: _,
  ...described
}: ServiceKeySource): Promise<ServiceSigner & LoadedIdentity> {
  const bytes = await readFile(certificatePath).catch((error: NodeJS.ErrnoException) => {
    throw new Fatal('key.unreadable', `${certificatePath} can't be read: ${error.code}.`);
  });
  return { ...identityOf(certificatesInBundle(bytes)), where: 'service', ...described };
}

/** Time for which a start waits for a key service, milliseconds. */
const START_MS = 5_000;

/**
 * Returns why the key at a service does not sign now: that ends without a restart.
 * @throws {CryptoError} `key.unsupported`: the configuration has to be corrected
 */
async function keyTrouble(
  signer: ServiceSigner,
  { choices = {} }: LocalProfile,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): Promise<CertificateProblem | undefined> {
  const timeoutMs = Math.min(signer.limits.timeoutMs, START_MS);
  const opened = openServiceSigner({ ...signer, limits: { ...signer.limits, timeoutMs } }, { clock, ids });
  try {
    await checkServiceSigner(opened, choices, { at: clock.now(), isTried: signer.isTried });
    return undefined;
  } catch (error) {
    const trouble = describeFailure(error);
    if (!KEY_REFUSALS.has(trouble.code)) throw error;
    return trouble;
  } finally {
    opened.key.close();
  }
}

/** Loads the key of a profile. One whose certificate cannot be used is returned with the reason. */
async function loadProfile(
  declared: DeclaredSigner,
  source: CertificateSource,
  {
    trust,
    warnings,
    ...parts
  }: {
    readonly trust: TrustOptions;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly warnings: string[];
  },
): Promise<LocalProfile> {
  const { clock } = parts;
  try {
    const { keys } = source;
    const loaded =
      'place' in keys ? await loadServiceSigner(keys) : await loadSigner(keys, () => clock.now());
    const signer = await withIssuers(loaded, trust, { source, clock, warnings });
    const profile = localProfile(declared, signer, source, trust);
    warnings.push(...warningsAbout(profile, signer, source, trust));
    if (!isAtService(profile.signer)) return profile;
    const trouble = await keyTrouble(profile.signer, profile, parts);
    return trouble === undefined ? profile : { ...profile, keyTrouble: trouble };
  } catch (error) {
    return withoutCertificate(declared, source, describeFailure(error));
  }
}

function withoutCertificate(
  { name, validateCertificate, choices, base }: DeclaredSigner,
  { files, secret = files }: CertificateSource,
  loadFailure: CertificateProblem,
): LocalProfile {
  return {
    ...base,
    method: 'Local',
    name,
    signer: undefined,
    loadFailure,
    certificateFiles: loadFailure.code === 'key.password' ? secret : files,
    choices,
    validateCertificate,
    anchors: [],
    validTo: Number.POSITIVE_INFINITY,
    certificate: `none: ${loadFailure.message}`,
  };
}

function signsHere(profile: Profile): profile is LocalProfile {
  return profile.method === 'Local';
}

/** Returns the anchors: without roots, the top of the certificate's own chain. Source: docs/batch-values.md §6.5. */
function localProfile(
  declared: DeclaredSigner,
  loaded: Loaded,
  source: CertificateSource,
  trust: TrustOptions,
): LocalProfile {
  const own = loaded.root ?? loaded.chain.at(-1) ?? loaded.certificate;
  // Certificates generated for development are trusted.
  const trusted = trust.roots.length === 0 || source.development ? [own, ...trust.roots] : trust.roots;
  const { anchors, chain } = buildCertificationPaths(loaded, {
    anchors: trusted,
    intermediates: trust.intermediates,
  });
  const signer = chain.length > loaded.chain.length ? { ...loaded, chain } : loaded;
  const { name, validateCertificate, choices, base } = declared;
  const { subject, thumbprint, notBefore, notAfter } = loaded;
  return {
    ...base,
    method: 'Local',
    name,
    signer,
    choices,
    validateCertificate,
    // Unrelated roots are kept, so that its chain fails and is not omitted.
    anchors: !validateCertificate ? [] : anchors.length > 0 ? anchors : trusted,
    facts: { source: source.development ? 'Development' : source.keys.source, subject, thumbprint, notAfter },
    certificateFiles: source.files,
    validFrom: notBefore,
    validTo: notAfter,
    certificate: `${subject}, valid until ${new Date(notAfter).toISOString()}`,
  };
}

function warningsAbout(
  profile: LocalProfile,
  loaded: Loaded,
  source: CertificateSource,
  { roots, intermediates }: TrustOptions,
): readonly string[] {
  const { name, validateCertificate } = profile;
  const warnings = [...addressWarnings(profile, roots)];
  const { issuer, subject } = new X509Certificate(loaded.certificate);
  if (issuer === subject) {
    warnings.push(`The certificate of signing profile ${name} is self-signed: ${loaded.subject}`);
  } else if (validateCertificate && !source.development && roots.length === 0) {
    warnings.push(
      `No Signing:Trust:Roots are configured: signing profile ${name} trusts the top of its own certificate chain.`,
    );
  }
  if (roots.length > 0 && validateCertificate && !source.development) {
    const { anchors } = buildCertificationPaths(loaded, { anchors: roots, intermediates });
    if (anchors.length === 0)
      warnings.push(
        `The certificate of signing profile ${name} leads to none of the Signing:Trust:Roots; its jobs will fail.`,
      );
  }
  for (const { code, text } of loaded.warnings) {
    // With configured roots, the chain is built from them too.
    if (code !== 'chain.incomplete' || roots.length === 0) warnings.push(`Signing profile ${name}: ${text}`);
  }
  return warnings;
}

/** Warnings of letters in the visible signatures of the profiles that no font has, as far as they are known before a job. */
export function unshownLetters(profiles: readonly Profile[]): readonly string[] {
  return profiles.flatMap((profile) => {
    if (!signsHere(profile) || profile.signer === undefined) return [];
    const { appearance, pades } = profile.choices ?? {};
    if (appearance === undefined) return [];
    const lines = filledLines(appearance.lines, {
      reason: pades?.reason ?? '',
      location: pades?.location ?? '',
      contactInfo: pades?.contactInfo ?? '',
      profile: profile.name,
      signer: holderName(readCertificate(profile.signer.certificate)),
      date: '',
      file: '',
      job: '',
    });
    return letterWarnings(lines).map(
      ({ message }) => `Visible signature of profile ${profile.name}: ${message}`,
    );
  });
}

/** From level LT on, signatures embed proof that no certificate below the root is revoked, from the addresses in these. */
function addressWarnings(
  { name, choices, signer }: LocalProfile,
  roots: readonly Buffer[],
): readonly string[] {
  const level = choices?.level;
  if (signer === undefined || (level !== 'LT' && level !== 'LTA')) return [];
  return [signer.certificate, ...signer.chain].flatMap((der) => {
    const { issuer, subject } = new X509Certificate(der);
    const { ocspUrls, crlUrls, ocspNoCheck } = readCertificate(der);
    const isAsked = issuer !== subject && !ocspNoCheck && !roots.some((root) => root.equals(der));
    if (!isAsked || ocspUrls.length + crlUrls.length > 0) return [];
    return [
      `Signing profile ${name} signs at level ${level}, but the certificate of ${subject.replaceAll('\n', ', ')} names no address of revocation information (OCSP or CRL): its signatures fail. Set Level to T, or use a certificate with such an address.`,
    ];
  });
}

/**
 * Derives the key once, at start; it is in memory only. Undefined when outputs are not encrypted. Source: docs/batch-values.md
 * §9.
 */
export async function deriveEncryptionKey({ encryption }: Settings): Promise<Buffer | undefined> {
  if (!encryption.enabled) return undefined;
  const { password, passwordEnvVar, salt, iterations } = encryption;
  return envelopeKey(passwordEnvVar.value || password, Buffer.from(salt, 'base64'), iterations);
}
