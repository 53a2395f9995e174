/**
 * Maps the configuration to signing profiles whose keys are not loaded yet.
 * Source: docs/batch-values.md §6.1 and §6.2.
 */
import { readFileSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { assertElementPath, isPicture, type XadesFormat } from '@sealwright/signatures';
import type { AppearanceChoice, LocalProfile, RemoteProfile, SigningChoices } from '../actors/index.ts';
import { overrideName, PARAMETER_NAMES } from '../machines/batch/signing-parameters.ts';
import type { ProfileName } from '../machines/ids.ts';
import {
  type CertificateSettings,
  DIGEST_BYTES,
  digestIn,
  type ProfileSettings,
  type Settings,
} from '../settings.ts';

/** A local signing profile before its key is loaded. */
export interface DeclaredSigner {
  readonly method: 'Local';
  readonly name: ProfileName;
  readonly certificate: CertificateSettings;
  /** The configuration key of `certificate`. */
  readonly certificateKey: string;
  readonly validateCertificate: boolean;
  readonly choices: SigningChoices;
  readonly base: Pick<
    LocalProfile,
    'format' | 'verify' | 'verifyIndependently' | 'demand' | 'encrypt' | 'form' | 'overrides'
  >;
}

type Form = NonNullable<LocalProfile['form']>;

type DeclaredProfile = DeclaredSigner | { readonly method: 'RemoteSigner'; readonly profile: RemoteProfile };

/**
 * Returns the profiles; without any, one named `default`, whose format depends on each file's name.
 * @param faults receives a sentence for each image and each location path that cannot be read
 */
export function declaredProfiles(
  { signing, encryption, remoteSigner }: Settings,
  faults: string[],
): readonly DeclaredProfile[] {
  if (signing.profiles.length > 0)
    return signing.profiles.map((profile, index) => {
      const declared = declaredProfile(profile, index, encryption.enabled, remoteSigner.compareContent);
      checkPaths(profile, `Signing:Profiles:${index}:Xades`, faults);
      const key = `Signing:Profiles:${index}:Pades:Appearance:ImagePath`;
      return declared.method === 'Local' ? withImage(declared, profile, key, faults) : declared;
    });
  return [
    {
      method: 'Local',
      name: 'default' as ProfileName,
      certificate: signing.certificate,
      certificateKey: 'Signing:Certificate',
      validateCertificate: true,
      choices: {},
      base: { format: undefined, verify: true, encrypt: encryption.enabled },
    },
  ];
}

function declaredProfile(
  settings: ProfileSettings,
  index: number,
  encrypted: boolean,
  compareContent: boolean,
): DeclaredProfile {
  const { name, format, verify, encrypt = encrypted } = settings;
  const { verifyIndependently, require: demand } = settings;
  const base = {
    format: format === 'Auto' ? undefined : format,
    verify,
    verifyIndependently,
    ...(demand !== undefined && { demand }),
    encrypt,
    form: formOf(settings),
    overrides: PARAMETER_NAMES.filter((parameter) => settings.overrides.includes(overrideName(parameter))),
  };
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
    certificateKey: `Signing:Profiles:${index}:Certificate`,
    validateCertificate: settings.validateCertificate ?? true,
    choices: choicesOf(settings),
    base,
  };
}

function formOf({ preserveFileExtension, saveAsPem, detached, container }: ProfileSettings): Form {
  const form = { preserveFileExtension, saveAsPem, detached };
  return container === 'None' ? form : { ...form, container: container === 'AsicS' ? 'S' : 'E' };
}

function checkPaths({ xades }: ProfileSettings, key: string, faults: string[]): void {
  for (const [name, path] of Object.entries({ ElementPath: xades.elementPath, Place: xades.place })) {
    try {
      if (path !== undefined) assertElementPath(path);
    } catch (error) {
      faults.push(`${key}:${name}: ${describeFailure(error).message}`);
    }
  }
}

const DIGESTS = { SHA256: 'sha256', SHA384: 'sha384', SHA512: 'sha512' } as const;

/** Reads the image of the visible signature once, at start. */
function withImage(
  declared: DeclaredSigner,
  {
    pades: {
      appearance: { imagePath },
    },
  }: ProfileSettings,
  key: string,
  faults: string[],
): DeclaredSigner {
  const { appearance } = declared.choices;
  if (imagePath === undefined || appearance === undefined) return declared;
  try {
    const image = readFileSync(imagePath);
    if (isPicture(image))
      return { ...declared, choices: { ...declared.choices, appearance: { ...appearance, image } } };
    faults.push(`${key}: ${imagePath} is no PNG or JPEG that can be drawn.`);
  } catch (error) {
    faults.push(
      `${key}: ${imagePath} can't be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`,
    );
  }
  return declared;
}

function appearanceOf({ pades: { appearance } }: ProfileSettings): {
  readonly appearance?: AppearanceChoice;
} {
  const { page, left, top, width, height, lines, timeZone } = appearance;
  if (width === undefined || height === undefined) return {};
  return { appearance: { page, left, top, width, height, lines, timeZone } };
}

function choicesOf(settings: ProfileSettings): SigningChoices {
  const { level = 'B', digestAlgorithm, includeChain, timestamp, policy, pades } = settings;
  const { url, username, password, timeoutSeconds } = timestamp;
  const { name, oid, hash = '', hashAlgorithm, uri } = policy;
  const digest = digestIn(hash, DIGEST_BYTES[hashAlgorithm]);
  return {
    level,
    includeChain,
    ...(settings.rsaPadding === 'Pss' && { padding: 'pss' as const }),
    ...(digestAlgorithm !== undefined && { digest: DIGESTS[digestAlgorithm] }),
    ...(url !== undefined && {
      timestamp: {
        url,
        timeoutMs: timeoutSeconds * 1000,
        ...(username !== undefined && { username, password }),
      },
    }),
    ...(name !== undefined && { policy: name }),
    ...(oid !== undefined &&
      digest !== undefined && {
        policy: { oid, digest: DIGESTS[hashAlgorithm], hash: digest, ...(uri !== undefined && { uri }) },
      }),
    ...(pades.password !== '' && { password: pades.password }),
    pades: {
      ...(pades.reason !== undefined && { reason: pades.reason }),
      ...(pades.location !== undefined && { location: pades.location }),
      ...(pades.contactInfo !== undefined && { contactInfo: pades.contactInfo }),
      ...(pades.fieldName !== undefined && { fieldName: pades.fieldName }),
      ...certificationOf(pades.certification),
    },
    ...appearanceOf(settings),
    xades: xadesOf(settings),
    ...(settings.coSign && { coSign: true }),
  };
}

function certificationOf(level: number | undefined): { readonly certification?: 1 | 2 | 3 } {
  return level === 1 || level === 2 || level === 3 ? { certification: level } : {};
}

const INSERTIONS = {
  FirstChild: 'first-child',
  LastChild: 'last-child',
  Before: 'before',
  After: 'after',
} as const;

function xadesOf({ xades, coSign }: ProfileSettings): XadesFormat {
  const { elementId, elementPath, place, namespaces, insertion, form, canonicalization } = xades;
  return {
    ...(coSign && { coSignable: true }),
    ...((elementId ?? elementPath) !== undefined && { packaging: 'element' as const }),
    ...(form === 'XmlDsig' && { form: 'xmldsig' as const }),
    ...(canonicalization === 'Inclusive' && { canonicalization: 'inclusive' as const }),
    ...(elementId !== undefined && { elementId }),
    ...(elementPath !== undefined && { elementPath }),
    ...(place !== undefined && { place }),
    ...(insertion !== undefined && { insertion: INSERTIONS[insertion] }),
    elementNamespaces: namespaces.map((text) => {
      const [prefix = ''] = text.split('=', 1);
      return { prefix, uri: text.slice(prefix.length + 1) };
    }),
  };
}
