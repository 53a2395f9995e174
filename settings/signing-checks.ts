/**
 * Rules about signing that concern several keys at once: certificates and profiles.
 *
 * Source: docs/batch-values.md §1 rows 5 and 6, §§6.1 and 6.2.
 */
import {
  formatsOfParameter,
  MAX_LINES,
  overrideName,
  PARAMETER_NAMES,
} from '../machines/batch/signing-parameters.ts';
import { DIGEST_BYTES, digestIn } from './encryption-checks.ts';
import type { Fault, Warning } from './findings.ts';
import { isProxy, PROXY_RULE } from './kinds.ts';
import { sealLevel, sealProfileSettings } from './seal-profile.ts';
import {
  type CertificateSettings,
  isKeyService,
  KEY_SERVICES,
  type ProfileSettings,
} from './signing-table.ts';
import type { Settings } from './table.ts';

interface Findings {
  readonly faults: Fault[];
  readonly warnings: Warning[];
}

export function checkSigning(settings: Settings, found: Findings): void {
  const { profiles, certificate } = settings.signing;
  checkKeyService('Signing:Certificate', certificate, settings, found);
  checkTokens(settings, found.warnings);
  checkRoots(settings, found.warnings);
  checkIssuerHosts(settings, found.warnings);
  checkLists(settings, found);
  if (profiles.length === 0) {
    checkCertificate('Signing:Certificate', certificate, settings, found.faults);
    return;
  }
  if (isGiven(certificate)) {
    const isLocal = profiles.some(({ method }) => method === 'Local');
    if (!isLocal && settings.portal.enabled)
      checkCertificate('Signing:Certificate', certificate, settings, found.faults);
    else
      found.warnings.push({
        key: 'Signing:Certificate',
        text: isLocal
          ? 'is not used: every profile of Signing:Profiles has a certificate of its own'
          : 'is not used: no profile of Signing:Profiles has the Method Local, and the portal is off',
      });
  }
  for (const [index, profile] of profiles.entries()) {
    const prefix = `Signing:Profiles:${index}`;
    checkKeyService(`${prefix}:Certificate`, profile.certificate, settings, found);
    const twin = profiles.findIndex(({ name }) => name === profile.name);
    if (twin < index)
      found.faults.push({ key: `${prefix}:Name`, rule: `is the name of Signing:Profiles:${twin} already` });
    if (profile.method === 'Local') checkLocal(prefix, profile, settings, found);
    else checkRemote(prefix, profile, found);
    checkForm(prefix, profile, settings, found);
  }
}

function isGiven({ pfx, pem, pkcs11, keyService }: CertificateSettings): boolean {
  const given = [
    pfx.path,
    pem.certificatePath,
    pem.keyPath,
    pkcs11.modulePath,
    pkcs11.thumbprint,
    keyService.key,
  ];
  return given.some((value) => value !== undefined);
}

/** Sources of certificates; only their required members are checked. */
const REQUIRED = {
  Pem: ({ pem }: CertificateSettings) => ({ CertificatePath: pem.certificatePath, KeyPath: pem.keyPath }),
  Pkcs11: ({ pkcs11 }: CertificateSettings) => ({
    ModulePath: pkcs11.modulePath,
    Thumbprint: pkcs11.thumbprint,
  }),
  Vault: ({ keyService: { key, address, tokenPath, tokenEnvVar }, pem }: CertificateSettings) => ({
    'Pem:CertificatePath': pem.certificatePath,
    'KeyService:Key': key,
    'KeyService:Address': address,
    'KeyService:TokenPath': tokenPath ?? (tokenEnvVar.value || undefined),
  }),
  AwsKms: ({ keyService: { key }, pem }: CertificateSettings) => ({
    'Pem:CertificatePath': pem.certificatePath,
    'KeyService:Key': key,
  }),
  AzureKeyVault: ({ keyService: { key, address }, pem }: CertificateSettings) => ({
    'Pem:CertificatePath': pem.certificatePath,
    'KeyService:Key': key,
    'KeyService:Address': address,
  }),
  Csc: ({ keyService: { key, address }, pem }: CertificateSettings) => ({
    'Pem:CertificatePath': pem.certificatePath,
    'KeyService:Key': key,
    'KeyService:Address': address,
  }),
  GoogleKms: ({ keyService: { key }, pem }: CertificateSettings) => ({
    'Pem:CertificatePath': pem.certificatePath,
    'KeyService:Key': key,
  }),
} as const;

function checkCertificate(
  prefix: string,
  certificate: CertificateSettings,
  { signing, production }: Settings,
  faults: Fault[],
): void {
  const { source, pfx } = certificate;
  if (source !== 'Pfx') {
    for (const [name, value] of Object.entries(REQUIRED[source](certificate))) {
      if (value === undefined)
        faults.push({
          key: `${prefix}:${name.includes(':') ? name : `${source}:${name}`}`,
          rule: `is required when the source is ${source}`,
        });
    }
  } else if (pfx.path === undefined && isGiven(certificate)) {
    const { pkcs11, keyService } = certificate;
    const meant = pkcs11.modulePath === undefined ? 'Pem' : 'Pkcs11';
    const rule =
      keyService.key === undefined
        ? `must be ${meant} for the ${meant} block to be used`
        : `must be ${KEY_SERVICES.slice(0, -1).join(', ')} or ${KEY_SERVICES.at(-1)} for the KeyService block to be used`;
    faults.push({ key: `${prefix}:Source`, rule });
  } else if (pfx.path === undefined && !signing.allowSelfSigned) {
    const condition = production ? ' (Signing:AllowSelfSigned is false in Production)' : '';
    faults.push({
      key: `${prefix}:Pfx:Path`,
      rule: `is required when nothing may be self-signed${condition}`,
    });
  }
}

/** Forms of the names of keys, which become parts of addresses. */
const KEY_FORMS: { readonly [source: string]: { readonly is: RegExp; readonly rule: string } } = {
  AzureKeyVault: { is: /^[\w-]{1,127}(\/[\w-]{1,64})?$/, rule: 'name or name/version' },
  GoogleKms: {
    is: /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+(\/cryptoKeyVersions\/\d+)?$/,
    rule: 'projects/…/locations/…/keyRings/…/cryptoKeys/name, with or without /cryptoKeyVersions/1',
  },
};

/** A task that ends first ends its thread, with the other files that are signed there. */
function checkKeyService(
  prefix: string,
  { source, keyService: { key, address, timeoutSeconds, proxyEnvVar } }: CertificateSettings,
  { pipeline }: Settings,
  { faults, warnings }: Findings,
): void {
  if (!isKeyService(source)) return;
  if (timeoutSeconds >= pipeline.taskTimeoutSeconds)
    faults.push({
      key: `${prefix}:KeyService:TimeoutSeconds`,
      rule: `must be less than Pipeline:TaskTimeoutSeconds, which is ${pipeline.taskTimeoutSeconds}`,
    });
  if (proxyEnvVar !== undefined && !isProxy(proxyEnvVar.value))
    faults.push({
      key: `${prefix}:KeyService:ProxyEnvVar`,
      rule: PROXY_RULE,
    });
  const form = Object.hasOwn(KEY_FORMS, source) ? KEY_FORMS[source] : undefined;
  if (form !== undefined && key !== undefined && !form.is.test(key))
    faults.push({ key: `${prefix}:KeyService:Key`, rule: `must be ${form.rule} with Source ${source}` });
  if (source === 'Csc' && address !== undefined && !/\/v[12]\/?$/.test(address))
    faults.push({ key: `${prefix}:KeyService:Address`, rule: 'must end with /v1 or /v2 with Source Csc' });
  if (source !== 'AwsKms' && address !== undefined && new URL(address).protocol === 'http:')
    warnings.push({
      key: `${prefix}:KeyService:Address`,
      text: 'is not https: the token, which lets anybody sign, is sent in clear text',
    });
}

function checkLocal(prefix: string, profile: ProfileSettings, settings: Settings, found: Findings): void {
  const { faults, warnings } = found;
  // The development certificate must not sign instead of the configured one.
  if (!isGiven(profile.certificate) && isGiven(settings.signing.certificate))
    faults.push({
      key: `${prefix}:Certificate`,
      rule: `is required: Signing:Certificate is not used beside Signing:Profiles. Write its members here, such as ${prefix}:Certificate:Pfx:Path`,
    });
  else checkCertificate(`${prefix}:Certificate`, profile.certificate, settings, faults);
  const { name, email, identifier } = profile.remoteSigner;
  if ([name, email, identifier].some((value) => value !== undefined)) {
    faults.push({ key: `${prefix}:RemoteSigner`, rule: 'is for profiles with the Method RemoteSigner' });
  }
  if (profile.validateCertificate === false) {
    warnings.push({
      key: `${prefix}:ValidateCertificate`,
      text: `is false: profile ${profile.name} signs with a certificate that is not validated`,
    });
  }
  const { level = 'B' } = profile;
  if (level !== 'B' && profile.timestamp.url === undefined) {
    faults.push({ key: `${prefix}:Timestamp:Url`, rule: `is required for Level ${level}` });
  } else if (level === 'B' && profile.timestamp.url !== undefined && !isTimeStampedSeal(profile, settings)) {
    warnings.push({ key: `${prefix}:Timestamp:Url`, text: 'is not used: Level B has no time-stamp' });
  }
  checkPolicy(prefix, profile, faults);
}

function isTimeStampedSeal(profile: ProfileSettings, settings: Settings): boolean {
  return settings.portal.enabled && sealProfileSettings(settings) === profile && sealLevel(settings) !== 'B';
}

/** From level LT on, the chain of the time-stamp authority must be embedded too, up to a root. */
function checkRoots({ signing }: Settings, warnings: Warning[]): void {
  const { roots, useSystemRoots } = signing.trust;
  if (roots.length > 0 || useSystemRoots) return;
  const index = signing.profiles.findIndex(({ level }) => level === 'LT' || level === 'LTA');
  if (index < 0) return;
  warnings.push({
    key: `Signing:Profiles:${index}:Level`,
    text: 'needs the root of the time-stamp authority in Signing:Trust:Roots, where there is none',
  });
}

const NEEDS_LISTS = 'needs Signing:Trust:Lists:Folder or Signing:Trust:Lists:Refresh';

/** True when trusted lists are configured. */
function hasLists({ signing }: Settings): boolean {
  return signing.trust.lists.folder !== undefined || signing.trust.lists.refresh;
}

/** Says what a demand lacks that nothing can meet; undefined: nothing. */
function missingForDemands(settings: Settings): string | undefined {
  if (!hasLists(settings)) return NEEDS_LISTS;
  if (settings.signing.trust.revocation !== 'None') return undefined;
  return 'needs Signing:Trust:Revocation Soft or Hard: what may be revoked is qualified for nobody';
}

/** Nothing of the lists is left without effect, and no demand of an organization that nothing can meet. */
function checkLists(settings: Settings, { faults, warnings }: Findings): void {
  const { anchors, journal, location } = settings.signing.trust.lists;
  if (anchors !== undefined && journal === undefined)
    faults.push({ key: 'Signing:Trust:Lists:Journal', rule: 'is required with Signing:Trust:Lists:Anchors' });
  const isGiven = anchors !== undefined || journal !== undefined || location !== undefined;
  if (isGiven && !hasLists(settings))
    warnings.push({
      key: 'Signing:Trust:Lists',
      text: 'has no effect without Lists:Folder or Lists:Refresh',
    });
  const rule = missingForDemands(settings);
  for (const [index, { requiredQualification = 'None' }] of settings.portal.organizations.entries())
    if (requiredQualification !== 'None' && rule !== undefined)
      faults.push({ key: `Portal:Organizations:${index}:RequiredQualification`, rule });
}

/** Issuers are fetched from listed hosts only. */
function checkIssuerHosts({ signing }: Settings, warnings: Warning[]): void {
  const { allowAia, aiaHosts } = signing.trust;
  if (allowAia && aiaHosts.length === 0)
    warnings.push({
      key: 'Signing:Trust:AllowAia',
      text: 'has no effect: list the hosts that issuers may be fetched from in Signing:Trust:AiaHosts',
    });
  else if (!allowAia && aiaHosts.length > 0)
    warnings.push({ key: 'Signing:Trust:AiaHosts', text: 'is not used: Signing:Trust:AllowAia is false' });
}

/** Tokens make one signature at a time unless configured otherwise. */
function checkTokens(settings: Settings, warnings: Warning[]): void {
  const { profiles, certificate } = settings.signing;
  const { maxConcurrency } = settings.pipeline;
  const all = profiles.length === 0 ? [certificate] : profiles.map((profile) => profile.certificate);
  const slow = all.some(({ source, pkcs11 }) => source === 'Pkcs11' && pkcs11.maxSessions < maxConcurrency);
  if (!slow) return;
  warnings.push({
    key: 'Pipeline:MaxConcurrency',
    text: `is ${maxConcurrency}: jobs wait for each other at a token with fewer Pkcs11:MaxSessions`,
  });
}

function checkPolicy(prefix: string, profile: ProfileSettings, faults: Fault[]): void {
  const { name, oid, hash, hashAlgorithm, uri } = profile.policy;
  if (name !== undefined) checkPolicyName(prefix, profile, faults);
  else if (oid === undefined && hash === undefined) {
    if (uri !== undefined) faults.push({ key: `${prefix}:Policy:Oid`, rule: 'is required with Policy:Uri' });
  } else if (oid === undefined) {
    faults.push({ key: `${prefix}:Policy:Oid`, rule: 'is required with Policy:Hash' });
  } else if (hash === undefined) {
    faults.push({ key: `${prefix}:Policy:Hash`, rule: 'is required with Policy:Oid' });
  } else if (digestIn(hash, DIGEST_BYTES[hashAlgorithm]) === undefined) {
    faults.push({
      key: `${prefix}:Policy:Hash`,
      rule: `must be a ${hashAlgorithm} digest, Base64 or hexadecimal`,
    });
  }
}

/** A policy by name sets the others, and has few algorithms. */
function checkPolicyName(prefix: string, profile: ProfileSettings, faults: Fault[]): void {
  const { name, oid, hash, uri } = profile.policy;
  const key = `${prefix}:Policy:Name`;
  if ((oid ?? hash ?? uri) !== undefined)
    faults.push({ key, rule: 'is not for a profile with other keys of Policy' });
  if (name === 'ICP-Brasil:AD-RT' && (profile.level ?? 'B') === 'B')
    faults.push({ key, rule: 'demands time-stamps: set Level' });
  if (profile.rsaPadding === 'Pss' || profile.digestAlgorithm === 'SHA384')
    faults.push({ key, rule: 'allows no RsaPadding Pss and no DigestAlgorithm SHA384' });
}

function checkRemote(prefix: string, profile: ProfileSettings, { faults }: Findings): void {
  if (isGiven(profile.certificate)) {
    faults.push({
      key: `${prefix}:Certificate`,
      rule: 'is for the Method Local; on the remote portal somebody else signs',
    });
  }
  if (profile.validateCertificate === true) {
    faults.push({
      key: `${prefix}:ValidateCertificate`,
      rule: 'must be false with the Method RemoteSigner: the certificate is not known beforehand',
    });
  }
  for (const name of ['Name', 'Email', 'Identifier'] as const) {
    const value = profile.remoteSigner[lowered(name)];
    if (value === undefined)
      faults.push({
        key: `${prefix}:RemoteSigner:${name}`,
        rule: 'is required with the Method RemoteSigner',
      });
    else if (name === 'Email' && !value.includes('@'))
      faults.push({ key: `${prefix}:RemoteSigner:Email`, rule: 'must contain @' });
  }
  // The portal's output is published unchanged, so its form cannot be guaranteed.
  const promised = [
    ['SaveAsPem', profile.saveAsPem],
    ['Detached', profile.detached],
    ['Container', profile.container !== 'None'],
    ['Level', (profile.level ?? 'B') !== 'B'],
    ['RsaPadding', profile.rsaPadding !== 'Pkcs1'],
    ['CoSign', profile.coSign],
    ['Overrides', profile.overrides.length > 0],
    ['Pades:Certification', profile.pades.certification !== undefined],
    ['Pades:Appearance', isAppearanceGiven(profile)],
  ] as const;
  for (const [name, given] of promised) {
    if (given)
      faults.push({
        key: `${prefix}:${name}`,
        rule: 'is for the Method Local; the remote portal decides the form',
      });
  }
}

function lowered<const Name extends string>(name: Name): Uncapitalize<Name> {
  return (name.slice(0, 1).toLowerCase() + name.slice(1)) as Uncapitalize<Name>;
}

/** True when files of the profile may get signatures of this format. */
function mayBe(format: ProfileSettings['format'], wanted: ProfileSettings['format']): boolean {
  return format === 'Auto' || format === wanted;
}

/** Checks for both methods. */
function checkForm(
  prefix: string,
  profile: ProfileSettings,
  settings: Settings,
  { faults, warnings }: Findings,
): void {
  const { name, format } = profile;
  if (!mayBe(format, 'Cades')) {
    for (const [key, given] of [
      ['SaveAsPem', profile.saveAsPem],
      ['Detached', profile.detached],
    ] as const) {
      if (given) faults.push({ key: `${prefix}:${key}`, rule: `is for the format Cades, not ${format}` });
    }
  }
  checkXades(prefix, profile, faults);
  if (!mayBe(format, 'Pades') && profile.pades.certification !== undefined)
    faults.push({ key: `${prefix}:Pades:Certification`, rule: `is for the format Pades, not ${format}` });
  checkAppearance(prefix, profile, faults);
  checkOverrides(prefix, profile, faults);
  if (profile.container !== 'None') checkContainer(prefix, profile, faults);
  if (profile.encrypt === true && !settings.encryption.enabled)
    faults.push({ key: `${prefix}:Encrypt`, rule: 'needs Encryption:Enabled' });
  if (profile.verifyIndependently && !profile.verify)
    faults.push({ key: `${prefix}:VerifyIndependently`, rule: 'needs Verify: it is a second opinion' });
  if (profile.require !== undefined) {
    const rule = profile.verify ? missingForDemands(settings) : 'needs Verify';
    if (rule !== undefined) faults.push({ key: `${prefix}:Require`, rule });
  }
  if (!profile.verify) {
    warnings.push({
      key: `${prefix}:Verify`,
      text: `is false: profile ${name} publishes without checking what was signed`,
    });
  }
}

function isAppearanceGiven({ pades: { appearance } }: ProfileSettings): boolean {
  const { width, height, lines, imagePath } = appearance;
  return width !== undefined || height !== undefined || lines.length > 0 || imagePath !== undefined;
}

/** A signature that was meant to be visible must not be invisible. */
function checkAppearance(prefix: string, profile: ProfileSettings, faults: Fault[]): void {
  if (!isAppearanceGiven(profile)) return;
  const { format, pades, overrides } = profile;
  const { width, height, lines, imagePath } = pades.appearance;
  const key = `${prefix}:Pades:Appearance`;
  if (!mayBe(format, 'Pades')) faults.push({ key, rule: `is for the format Pades, not ${format}` });
  for (const [name, value] of [
    ['Width', width],
    ['Height', height],
  ] as const) {
    if (value === undefined || Number.parseFloat(String(value)) === 0)
      faults.push({ key: `${key}:${name}`, rule: 'is required for a visible signature, and more than 0' });
  }
  if (lines.length === 0 && imagePath === undefined && !overrides.includes('Lines'))
    faults.push({ key: `${key}:Lines`, rule: 'or ImagePath is required: there is nothing to show' });
  if (lines.length > MAX_LINES) faults.push({ key: `${key}:Lines`, rule: `must be at most ${MAX_LINES}` });
}

function checkOverrides(prefix: string, profile: ProfileSettings, faults: Fault[]): void {
  const { format, method, overrides, detached, xades } = profile;
  const places = ['Page', 'Left', 'Top', 'Width', 'Height', 'Lines'];
  for (const name of PARAMETER_NAMES) {
    const index = overrides.indexOf(overrideName(name));
    if (index < 0 || method !== 'Local') continue;
    const key = `${prefix}:Overrides:${index}`;
    const wanted = formatsOfParameter(name);
    if (!wanted.some((one) => mayBe(format, one)))
      faults.push({
        key,
        rule: `${overrideName(name)} is for the format ${wanted.join(' or ')}, not ${format}`,
      });
    else if (name === 'coSign' && (detached || xades.form === 'XmlDsig'))
      faults.push({
        key,
        rule: `CoSign cannot be used with ${detached ? 'Detached' : 'Xades:Form XmlDsig'}`,
      });
    else if (places.includes(overrideName(name)) && !isAppearanceGiven(profile))
      faults.push({ key, rule: `${overrideName(name)} needs a Pades:Appearance that it changes` });
  }
}

function checkXades(
  prefix: string,
  { format, xades, detached, coSign, level, policy }: ProfileSettings,
  faults: Fault[],
): void {
  const { elementId, elementPath, place, insertion, form, canonicalization } = xades;
  const targets = Object.entries({ ElementId: elementId, ElementPath: elementPath, Place: place });
  const [first, second] = targets.filter(([, value]) => value !== undefined).map(([name]) => name);
  const isPlain = form === 'XmlDsig';
  const given = first ?? (insertion === undefined ? (isPlain ? 'Form' : undefined) : 'Insertion');
  for (const [key, odd] of [
    ['Level', isPlain && level !== undefined && level !== 'B'],
    ['Policy', isPlain && policy.oid !== undefined],
    ['CoSign', isPlain && coSign],
  ] as const) {
    if (odd) faults.push({ key: `${prefix}:${key}`, rule: 'cannot be used with Xades:Form XmlDsig' });
  }
  if (!isPlain && canonicalization !== 'Exclusive')
    faults.push({ key: `${prefix}:Xades:Canonicalization`, rule: 'is for Xades:Form XmlDsig' });
  if (!mayBe(format, 'Xades') && given !== undefined)
    faults.push({ key: `${prefix}:Xades:${given}`, rule: `is for the format Xades, not ${format}` });
  if (second !== undefined)
    faults.push({ key: `${prefix}:Xades:${second}`, rule: `cannot be used with Xades:${first}` });
  const inside = insertion === undefined || insertion.endsWith('Child');
  if (!inside && elementId === undefined && elementPath === undefined)
    faults.push({
      key: `${prefix}:Xades:Insertion`,
      rule: 'must be FirstChild or LastChild without a signed element',
    });
  if (coSign && format === 'Pades')
    faults.push({
      key: `${prefix}:CoSign`,
      rule: 'is for the formats Cades and Xades; PDFs always take another signature',
    });
  if (coSign && detached)
    faults.push({
      key: `${prefix}:CoSign`,
      rule: 'cannot be used with Detached: the content is not in the file',
    });
}

/** Source: docs/batch-values.md §6.1, `Container`. */
function checkContainer(prefix: string, profile: ProfileSettings, faults: Fault[]): void {
  const { container, format, saveAsPem, detached, xades, overrides } = profile;
  if (format === 'Pades')
    faults.push({ key: `${prefix}:Container`, rule: 'is for the formats Cades and Xades, not Pades' });
  for (const [name, given] of [
    ['SaveAsPem', saveAsPem],
    ['Detached', detached],
    ['Xades:ElementId', xades.elementId !== undefined],
    ['Xades:ElementPath', xades.elementPath !== undefined],
    ['Xades:Place', xades.place !== undefined],
    ['Xades:Form', xades.form === 'XmlDsig'],
    ['Overrides', overrides.includes('ElementId') || overrides.includes('Place')],
  ] as const) {
    if (given) faults.push({ key: `${prefix}:${name}`, rule: `cannot be used with Container ${container}` });
  }
}
