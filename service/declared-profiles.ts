/**
 * From the configuration to signing profiles whose keys are not loaded yet.
 * Source: batch-gaps §6.1 ("Default profile") and §6.2.
 */
import type { LocalProfile, RemoteProfile, SigningChoices } from '../actors/index.ts';
import type { ProfileName } from '../machines/ids.ts';
import { type CertificateSettings, digestIn, type ProfileSettings, type Settings } from '../settings.ts';

/** A profile that signs here, before its key is loaded. */
export interface Declared {
  readonly method: 'Local';
  readonly name: ProfileName;
  readonly certificate: CertificateSettings;
  readonly validateCertificate: boolean;
  readonly choices: SigningChoices;
  readonly base: Pick<LocalProfile, 'format' | 'verify' | 'encrypt' | 'form'>;
}

type DeclaredProfile = Declared | { readonly method: 'RemoteSigner'; readonly profile: RemoteProfile };

/** Without any there is one, `default`, whose format is told by each file's name. */
export function declaredProfiles({
  signing,
  encryption,
  remoteSigner,
}: Settings): readonly DeclaredProfile[] {
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
