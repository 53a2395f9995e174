/**
 * The configuration keys of signing: certificates, profiles, trust, and the encryption of what was signed.
 *
 * Source: batch-gaps §§6.1, 6.2, 6.5 and 9; running.md, `Signing:AllowSelfSigned`.
 */
import { type ProfileName, parseProfileName } from '../machines/ids.ts';
import { below, computed, key, optional, records, required, type Shape } from './keys.ts';
import {
  choice,
  flag,
  list,
  path,
  pattern,
  secretText,
  secretVariable,
  text,
  variable,
  webUrl,
  whole,
} from './kinds.ts';

/** Variable of the encryption password when none is named. Source: batch-gaps §9. */
const ENCRYPTION_VARIABLE = 'BATCH_ENCRYPTION_PASSWORD';

/** Variable of a token's PIN when none is named. Source: batch-gaps §6.2. */
const PIN_VARIABLE = 'BATCH_PKCS11_PIN';

export const profileName = pattern<ProfileName>(
  'name',
  'must be 1 to 40 lower-case letters, digits and inner hyphens',
  parseProfileName,
);

const oid = pattern('dotted identifier', 'must be a dotted identifier such as 1.3.6.1', (value) =>
  /^[0-2](\.(0|[1-9]\d*))+$/.test(value) ? value : undefined,
);

const digest = choice(['SHA256', 'SHA384', 'SHA512']);

const thumbprint = pattern('SHA-1 in hexadecimal', 'must be 40 hexadecimal digits', (value) =>
  /^[0-9A-Fa-f]{40}$/.test(value.replace(/[\s:]/g, '')) ? value : undefined,
);

/** One place a certificate with its key comes from. */
const CERTIFICATE_KEYS = {
  Source: key(
    choice(['Pfx', 'Pem', 'Pkcs11'], {
      WindowsStore: 'names a source that exists on Windows only',
    }),
    'Pfx',
    { says: 'Which of the blocks below it holds the signing certificate.' },
  ),
  'Pfx:Path': optional(path(), { says: 'PKCS#12 file with certificate, key and chain.' }),
  'Pfx:Password': key(secretText(), '', { says: 'Password of that file; may be empty.' }),
  'Pfx:Thumbprint': optional(thumbprint, {
    says: 'SHA-1 of the certificate to sign with; needed when the file holds several keys.',
  }),
  'Pem:CertificatePath': optional(path(), {
    says: 'PEM file: the certificate, then those between it and the root.',
  }),
  'Pem:KeyPath': optional(path(), { says: 'PEM private key, plain or PKCS#8-encrypted.' }),
  'Pem:KeyPasswordEnvVar': optional(secretVariable(), {
    says: 'Environment variable that holds the password of the key.',
  }),
  'Pkcs11:ModulePath': optional(path(), { says: 'Shared library that comes with the token.' }),
  'Pkcs11:Thumbprint': optional(thumbprint, { says: 'SHA-1 of the certificate on the token.' }),
  'Pkcs11:PinEnvVar': computed(
    variable(),
    `\`${PIN_VARIABLE}\``,
    ({ env }) => ({ variable: PIN_VARIABLE, value: env[PIN_VARIABLE] ?? '' }),
    {
      says: 'Environment variable that holds the PIN; empty for tokens with a keypad. A `Pin` in the configuration refuses the start.',
    },
  ),
  'Pkcs11:MaxSessions': key(whole(1, 64), 1, {
    unit: 'sessions',
    says: 'Sessions open with the key at once; 1 signs one file after the other.',
  }),
} as const;

export type CertificateSettings = Shape<typeof CERTIFICATE_KEYS>;

/** Members of one entry of `Signing:Profiles`. */
export const PROFILE_KEYS = {
  Name: required(profileName, 'unnamed' as ProfileName, {
    says: 'Name of the profile in the API, in folders and in environment variables; unique.',
  }),
  Format: required(choice(['Pades', 'Cades', 'Xades']), 'Cades', {
    says: 'Format of the signatures, unless an upload asks for another.',
  }),
  Method: key(choice(['Local', 'RemoteSigner']), 'Local', {
    says: '`Local` signs here; `RemoteSigner` hands files to the remote portal.',
  }),
  Verify: key(flag(), true, {
    says: 'What was signed is read back and checked before it is published. `false` gives a warning at every start.',
  }),
  Encrypt: optional(flag(), {
    says: 'Outputs are encryption envelopes. Left out: as `Encryption:Enabled`, which `true` needs.',
  }),
  ValidateCertificate: optional(flag(), {
    says: "The signer's certificate is validated before each signature. Left out: `true` for `Local`; always `false` for `RemoteSigner`.",
  }),
  PreserveFileExtension: key(flag(), true, {
    says: '`true`: `a.bin` becomes `a.signed.bin`. `false`: Cades gives `a.bin.p7m` (`a.bin.pem` with `SaveAsPem`), Xades `a.signed.xml`.',
  }),
  SaveAsPem: key(flag(), false, { says: 'Cades only: the output is PEM text.' }),
  Detached: key(flag(), false, {
    says: 'Cades only: the content stays outside, the output is `a.bin.p7s`.',
  }),
  ...below('Certificate', CERTIFICATE_KEYS),
  'RemoteSigner:Name': optional(text('text'), { says: 'Name of the person who signs on the portal.' }),
  'RemoteSigner:Email': optional(text('text'), { says: 'E-mail address of that person.' }),
  'RemoteSigner:Identifier': optional(text('text'), { says: 'Identifier of that person.' }),
  'RemoteSigner:AllowElectronicSignature': key(flag(), false, {
    says: 'The person may sign without a certificate.',
  }),
  DigestAlgorithm: optional(digest, {
    says: 'Digest of content and signature. Left out: SHA256 (SHA512 for Ed25519 keys).',
  }),
  Level: key(choice(['B', 'T', 'LT', 'LTA']), 'B', {
    says: 'Baseline level of the signatures; above `B` they carry time-stamps, so `Timestamp:Url` is needed.',
  }),
  'Timestamp:Url': optional(webUrl(), { says: 'Time-stamp authority (RFC 3161).' }),
  'Timestamp:Username': optional(text('text'), { says: 'For HTTP Basic authentication there.' }),
  'Timestamp:Password': key(secretText(), '', { says: 'Password of that user.' }),
  'Timestamp:TimeoutSeconds': key(whole(1, 300), 10, {
    unit: 'seconds',
    says: 'How long one answer may take.',
  }),
  'Policy:Oid': optional(oid, { says: 'Explicit signature policy; with `Policy:Hash`.' }),
  'Policy:HashAlgorithm': key(digest, 'SHA256', { says: 'Digest that `Policy:Hash` was made with.' }),
  'Policy:Hash': optional(text('text'), { says: 'Digest of the policy document, Base64 or hexadecimal.' }),
  'Policy:Uri': optional(text('text'), { says: 'Where the policy document is to be found.' }),
  IncludeChain: key(flag(), true, {
    says: 'Certificates between signer and root go into the signature.',
  }),
  'Pades:Reason': optional(text('text'), { says: 'Reason shown by PDF readers.' }),
  'Pades:Location': optional(text('text'), { says: 'Place shown by PDF readers.' }),
  'Pades:ContactInfo': optional(text('text'), { says: 'How to reach the signer.' }),
  'Pades:FieldName': optional(text('text'), {
    says: 'Name of the signature field. An empty field of the name is used; without one it is made.',
  }),
  'Xades:ElementId': optional(text('text'), {
    says: 'Sign the element with this Id instead of the whole document.',
  }),
} as const;

/** One declared profile. */
export type ProfileSettings = Shape<typeof PROFILE_KEYS>;

export const SIGNING_KEYS = {
  'Signing:Profiles': key(records(PROFILE_KEYS), [], {
    says: 'Signing profiles. Without any there is one, `default`, with the certificate of `Signing:Certificate` and the format told by each file. An upload that names none gets `default`, or the first one.',
  }),
  ...below('Signing:Certificate', CERTIFICATE_KEYS),
  'Signing:AllowSelfSigned': computed(
    flag(),
    '`true` in Development, `false` in Production',
    ({ environment }): boolean => environment === 'Development',
    {
      says: 'Where a certificate is missing: make a development CA and certificate under `{Root}/keys/` instead of refusing the start.',
    },
  ),
  'Signing:License': optional(secretText(), {
    says: 'Not needed. Kept so that existing files load; one that is not Base64 makes the service not ready.',
  }),
  'Signing:Trust:Roots': key(list(path()), [], {
    says: 'Files (PEM, DER, P7B) or folders with trusted root certificates. Without any, the top of each certificate’s own chain is trusted.',
  }),
  'Signing:Trust:UseSystemRoots': key(flag(), false, {
    says: 'Also trust the roots that come with the runtime.',
  }),
  'Signing:Trust:Intermediates': key(list(path()), [], {
    says: 'Files or folders with further certificates for building chains.',
  }),
  'Signing:Trust:AllowAia': key(flag(), false, {
    says: 'Fetch missing issuers from the addresses that certificates name.',
  }),
  'Signing:Trust:Revocation': key(choice(['None', 'Soft', 'Hard']), 'Soft', {
    says: '`Soft`: a revoked certificate fails, no answer is a warning. `Hard`: both fail. `None`: nobody is asked.',
  }),
  'Signing:Trust:RevocationTimeoutSeconds': key(whole(1, 300), 5, {
    unit: 'seconds',
    says: 'How long one answer about revocation may take.',
  }),
  'Signing:Trust:CacheMinutes': key(whole(1, 10_080), 60, {
    unit: 'minutes',
    says: 'How long an answer, and the validation of a certificate, is kept at most.',
  }),
} as const;

export const ENCRYPTION_KEYS = {
  'Encryption:Enabled': key(flag(), false, {
    says: 'Outputs are encryption envelopes (`.enc`). The other `Encryption` keys are looked at only then.',
  }),
  'Encryption:Password': key(secretText(), '', {
    says: 'Password the key is derived from; the variable named next wins when it is not empty.',
  }),
  'Encryption:PasswordEnvVar': computed(
    variable(),
    `\`${ENCRYPTION_VARIABLE}\``,
    ({ env }) => ({ variable: ENCRYPTION_VARIABLE, value: env[ENCRYPTION_VARIABLE] ?? '' }),
    { says: 'Environment variable that holds the password.' },
  ),
  'Encryption:Salt': key(secretText(), '', {
    says: 'Base64 of at least 16 bytes (32 advised). Files made with another salt cannot be decrypted with this one.',
  }),
  'Encryption:Iterations': key(whole(1), 600_000, {
    unit: 'rounds',
    says: 'Rounds of key derivation, at least 10000.',
  }),
} as const;
