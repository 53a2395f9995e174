/**
 * The configuration keys of signing: certificates, profiles, trust, and the encryption of what was signed.
 *
 * Source: docs/batch-values.md §§6.1, 6.2, 6.5 and 9; docs/configuration.md, `Signing:AllowSelfSigned`.
 */
import { z } from 'zod';
import {
  EXTENT_RULE,
  type Extent,
  isLine,
  OVERRIDE_NAMES,
  PLACEHOLDERS,
  parseExtent,
  parsePage,
} from '../machines/batch/signing-parameters.ts';
import { type ProfileName, parseProfileName } from '../machines/ids.ts';
import { below, computed, key, optional, records, required, type Shape } from './keys.ts';
import {
  choice,
  flag,
  list,
  parsedBy,
  path,
  pattern,
  scalar,
  secretText,
  secretVariable,
  text,
  variable,
  webUrl,
  whole,
} from './kinds.ts';

/** Default variable of the encryption password. Source: docs/batch-values.md §9. */
const ENCRYPTION_VARIABLE = 'BATCH_ENCRYPTION_PASSWORD';

/** Default variable of a token's PIN. Source: docs/batch-values.md §6.2. */
const PIN_VARIABLE = 'BATCH_PKCS11_PIN';
/** Sources whose key stays at a service. */
export const KEY_SERVICES = ['Vault', 'AwsKms', 'AzureKeyVault', 'GoogleKms', 'Csc'] as const;

export function isKeyService(source: string): source is (typeof KEY_SERVICES)[number] {
  return KEY_SERVICES.some((service) => service === source);
}

/** Variable that the programs of Vault read. */
const TOKEN_VARIABLE = 'VAULT_TOKEN';

export const profileName = pattern<ProfileName>(
  'name',
  'must be 1 to 40 lower-case letters, digits and inner hyphens',
  parsedBy(parseProfileName),
);

const oid = pattern(
  'dotted identifier',
  'must be a dotted identifier such as 1.3.6.1',
  z.string().regex(/^[0-2](\.(0|[1-9]\d*))+$/),
);

/** Least qualifications that can be demanded. */
export const QUALIFICATIONS = ['QESig', 'QESeal', 'AdESig-QC', 'AdESeal-QC'] as const;

const listAddress = pattern(
  'URL of a list',
  'must be an http or https URL that ends in .xml',
  z
    .string()
    .regex(/^https?:\/\/[^/?#@\s]+\/[^?#\s]*[^/?#\s]\.xml$/)
    .refine((value) => URL.canParse(value)),
);

const digest = choice(['SHA256', 'SHA384', 'SHA512']);

const thumbprint = pattern(
  'SHA-1 in hexadecimal',
  'must be 40 hexadecimal digits',
  // Windows copies an invisible mark before the digits.
  z.string().refine((value) => /^[0-9A-Fa-f]{40}$/.test(value.replace(/[\s:\p{Cf}]/gu, ''))),
);

const hostName = pattern(
  'host name',
  'must be a host name or an IP address, without scheme, port and path',
  parsedBy((value) => {
    const url = `http://${value.includes(':') && !value.startsWith('[') ? `[${value}]` : value}/`;
    if (value.length > 253 || !/^[\p{L}\p{N}.:[\]_-]+$/u.test(value) || !URL.canParse(url)) return undefined;
    const { hostname, port } = new URL(url);
    // In the form in which certificates' addresses are compared: lower case, internationalized names in ASCII.
    return port === '' ? hostname : undefined;
  }),
);

const extent = scalar<Extent>({
  type: 'points or per cent',
  rule: EXTENT_RULE,
  schema: parsedBy(parseExtent),
});

const pageNumber = scalar<number | 'last'>({
  type: 'page number or `last`',
  rule: 'must be a page number, or last',
  schema: parsedBy((value) => {
    const page = parsePage(value);
    return page === null ? 'last' : page;
  }),
});

const line = pattern(
  'text',
  `must be at most 250 characters, with these placeholders only: ${PLACEHOLDERS.map((name) => `{${name}}`).join(' ')}`,
  z.string().refine(isLine),
);

const namespace = pattern(
  'prefix=namespace',
  'must be a prefix, an equals sign and a namespace, such as ext=urn:example',
  z.string().regex(/^[\p{L}_][\p{L}\p{N}_.-]*=\S+$/u),
);

const timeZone = pattern(
  'time zone',
  'must be a time zone such as UTC or America/Sao_Paulo',
  parsedBy((value) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
    } catch {
      return undefined;
    }
  }),
);

/** A source of a certificate with its key. */
const CERTIFICATE_KEYS = {
  Source: key(
    choice(['Pfx', 'Pem', 'Pkcs11', ...KEY_SERVICES], {
      WindowsStore: 'names a source that exists on Windows only',
    }),
    'Pfx',
    {
      says: 'Source of the signing certificate; the block of that name configures it. With the names of services the key stays there: `KeyService`, and `Pem:CertificatePath`.',
    },
  ),
  'Pfx:Path': optional(path(), { says: 'PKCS#12 file with certificate, key and chain.' }),
  'Pfx:Password': key(secretText(), '', { says: 'Password of that file; may be empty.' }),
  'Pfx:Thumbprint': optional(thumbprint, {
    says: 'SHA-1 of the certificate to sign with; required when the file contains several keys.',
  }),
  'Pem:CertificatePath': optional(path(), {
    says: 'PEM file: the certificate, then its intermediates.',
  }),
  'Pem:KeyPath': optional(path(), { says: 'PEM private key, plain or PKCS#8-encrypted.' }),
  'Pem:KeyPasswordEnvVar': optional(secretVariable(), {
    says: 'Environment variable that holds the password of the key.',
  }),
  'Pkcs11:ModulePath': optional(path(), { says: 'PKCS#11 library for the token.' }),
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
    says: 'Concurrent sessions with the token; 1 signs one file after the other.',
  }),
  'KeyService:Key': optional(text('text'), {
    says: 'Name of the key in Vault; of AWS KMS its id, ARN or alias; of Azure Key Vault `name` or `name/version`; of Google Cloud KMS `projects/…/cryptoKeys/name`, with or without `/cryptoKeyVersions/1`; of `Csc` the id of the credential.',
  }),
  'KeyService:Address': optional(webUrl(), {
    says: 'Address of Vault with the mount of its transit engine, such as `https://vault.example.org:8200/v1/transit`; of Azure Key Vault, such as `https://example.vault.azure.net`; of `Csc`, a remote signing service with the API of the Cloud Signature Consortium, such as `https://remote.example.org/csc/v2`; another address of AWS KMS or Google Cloud KMS.',
  }),
  'KeyService:Region': optional(text('text'), { says: 'Region of AWS KMS.' }),
  'KeyService:Namespace': optional(text('text'), { says: 'Namespace of Vault.' }),
  'KeyService:TokenPath': optional(path(), {
    says: 'File with the token of Vault, which an agent renews.',
  }),
  'KeyService:TokenEnvVar': computed(
    variable(),
    `\`${TOKEN_VARIABLE}\``,
    ({ env }) => ({ variable: TOKEN_VARIABLE, value: env[TOKEN_VARIABLE] ?? '' }),
    { says: 'Without that file: environment variable with the token.' },
  ),
  'KeyService:ProxyEnvVar': optional(secretVariable(), {
    says: 'Environment variable with the URL of an HTTP proxy for https requests to the service, such as `HTTPS_PROXY`; it may have user and password. AWS finds its credentials without it.',
  }),
  'KeyService:TimeoutSeconds': key(whole(1, 300), 30, {
    unit: 'seconds',
    says: 'Time limit of one signature with its repetitions.',
  }),
  'KeyService:TrySignature': key(flag(), true, {
    says: 'Sign once at start, and after an outage, to see whether the key signs. Switch it off where each signature is paid.',
  }),
} as const;

export type CertificateSettings = Shape<typeof CERTIFICATE_KEYS>;

/** Members of one entry of `Signing:Profiles`. */
export const PROFILE_KEYS = {
  Name: required(profileName, 'unnamed' as ProfileName, {
    says: 'Name of the profile in the API, in folders and in environment variables; unique.',
  }),
  Format: key(choice(['Auto', 'Pades', 'Cades', 'Xades']), 'Auto', {
    says: 'Format of the signatures; an upload may request another. `Auto`: by the extension of the file, `.pdf` Pades, `.xml` Xades, then by its content: PDF, XML with a declaration, else Cades. Members for one format apply to its files.',
  }),
  Method: key(choice(['Local', 'RemoteSigner']), 'Local', {
    says: '`Local` signs in this process; `RemoteSigner` sends files to the remote portal.',
  }),
  Verify: key(flag(), true, {
    says: 'Verify the signed file before it is published. `false` gives a warning at each start.',
  }),
  VerifyIndependently: key(flag(), false, {
    says: 'After `Verify`, a second implementation (pkijs for CMS, xml-crypto for XML signatures) verifies the output too; when the results differ, the job fails with `verification.disagreement`. See docs/independent-verification.md.',
  }),
  Require: optional(choice(QUALIFICATIONS), {
    says: 'Least qualification by `Signing:Trust:Lists`. Less, or an open answer, such as about revocation, fails the job with `verification.qualification`.',
  }),
  Encrypt: optional(flag(), {
    says: 'Encrypt outputs. If absent, as `Encryption:Enabled`; `true` requires it.',
  }),
  ValidateCertificate: optional(flag(), {
    says: 'Validate the certificate of the signer before each signature. If absent, `true` for `Local`; always `false` for `RemoteSigner`.',
  }),
  PreserveFileExtension: key(flag(), true, {
    says: '`true`: `a.bin` becomes `a.signed.bin`. `false`: Cades gives `a.bin.p7m` (`a.bin.pem` with `SaveAsPem`), Xades `a.signed.xml`.',
  }),
  SaveAsPem: key(flag(), false, { says: 'Cades only: the output is PEM text.' }),
  Detached: key(flag(), false, {
    says: 'Cades only: detached signature without the content; the output is `a.bin.p7s`.',
  }),
  Container: key(choice(['None', 'AsicS', 'AsicE']), 'None', {
    says: 'Cades and Xades only: put the file and its signature into an ASiC container, `a.bin.asics` or `a.bin.asice`. With `AsicE` all `file` parts of one upload are put into one container, named after the first.',
  }),
  ...below('Certificate', CERTIFICATE_KEYS),
  'RemoteSigner:Name': optional(text('text'), { says: 'Name of the person who signs on the portal.' }),
  'RemoteSigner:Email': optional(text('text'), { says: 'E-mail address of that person.' }),
  'RemoteSigner:Identifier': optional(text('text'), { says: 'Identifier of that person.' }),
  'RemoteSigner:AllowElectronicSignature': key(flag(), false, {
    says: 'The person may sign without a certificate.',
  }),
  DigestAlgorithm: optional(digest, {
    says: 'Digest of content and signature. If absent, SHA256 (SHA512 for Ed25519 keys).',
  }),
  RsaPadding: key(choice(['Pkcs1', 'Pss']), 'Pkcs1', {
    says: 'Padding of signatures by RSA keys: PKCS#1 v1.5, which TS 119 312 calls legacy until 2028, or PSS. Keys for PSS only always use it.',
  }),
  Level: {
    ...optional(choice(['B', 'T', 'LT', 'LTA']), {
      says: 'Baseline level of the signatures; above `B` they contain time-stamps, which require `Timestamp:Url`. If absent, the portal uses `LTA` where `Timestamp:Url` and `Signing:Trust:Roots` are set.',
    }),
    fallbackText: '`B`',
  },
  'Timestamp:Url': optional(webUrl(), { says: 'Time-stamp authority (RFC 3161).' }),
  'Timestamp:Username': optional(text('text'), {
    says: 'User for HTTP Basic authentication at the authority.',
  }),
  'Timestamp:Password': key(secretText(), '', { says: 'Password of that user.' }),
  'Timestamp:TimeoutSeconds': key(whole(1, 300), 10, {
    unit: 'seconds',
    says: 'Time limit of one request.',
  }),
  'Policy:Name': optional(choice(['ICP-Brasil:AD-RB', 'ICP-Brasil:AD-RT']), {
    says: 'Policy of ICP-Brasil, in its newest version for the format, in place of the other keys. `AD-RT` takes a level above `B`.',
  }),
  'Policy:Oid': optional(oid, { says: 'Explicit signature policy; with `Policy:Hash`.' }),
  'Policy:HashAlgorithm': key(digest, 'SHA256', { says: 'Digest algorithm of `Policy:Hash`.' }),
  'Policy:Hash': optional(text('text'), { says: 'Digest of the policy document, Base64 or hexadecimal.' }),
  'Policy:Uri': optional(text('text'), { says: 'Address of the policy document.' }),
  IncludeChain: key(flag(), true, {
    says: 'Include the intermediate certificates in the signature.',
  }),
  'Pades:Reason': optional(text('text'), { says: 'Reason shown by PDF readers.' }),
  'Pades:Location': optional(text('text'), { says: 'Place shown by PDF readers.' }),
  'Pades:ContactInfo': optional(text('text'), { says: 'Contact information of the signer.' }),
  'Pades:Password': key(secretText(), '', {
    says: 'Password of encrypted PDFs; the password of an upload (header `X-Document-Password`) replaces it.',
  }),
  'Pades:FieldName': optional(text('text'), {
    says: 'Name of the signature field. An empty field with this name is used; otherwise it is created.',
  }),
  'Pades:Certification': optional(whole(1, 3), {
    says: 'Certify: readers report later changes, except (1) none, (2) filled forms and signatures, (3) comments too. A file that is signed or certified already fails with `pdf.change-forbidden`.',
  }),
  'Pades:Appearance:Page': key(pageNumber, 'last', {
    says: 'Page of the visible signature; one beyond the end means the last.',
  }),
  'Pades:Appearance:Left': key(extent, 0, {
    says: 'Distance from the left edge of the page as shown: points, or a part of the width (`50%`). What does not fit is moved onto the page.',
  }),
  'Pades:Appearance:Top': key(extent, 0, { says: 'The same from the upper edge.' }),
  'Pades:Appearance:Width': optional(extent, {
    says: 'Width; with `Height` and a line or an image, the signature is visible.',
  }),
  'Pades:Appearance:Height': optional(extent, { says: 'Height.' }),
  'Pades:Appearance:Lines': key(list(line), [], {
    says: `Lines of text. ${PLACEHOLDERS.map((name) => `\`{${name}}\``).join(', ')} are replaced; a line all of whose placeholders are empty is left out.`,
  }),
  'Pades:Appearance:ImagePath': optional(path(), {
    says: 'PNG (also with transparency) or JPEG at the left of the lines; read once at start.',
  }),
  'Pades:Appearance:TimeZone': key(timeZone, 'UTC', { says: 'Time zone of `{date}`.' }),
  Overrides: key(list(choice(OVERRIDE_NAMES)), [], {
    says: `What an upload may set by form fields of these names (\`reason\`, \`rsaPadding\`, …). Any other is refused.`,
  }),
  'Xades:Form': key(choice(['Xades', 'XmlDsig']), 'Xades', {
    says: '`XmlDsig`: a plain XML signature without properties and without a prefix, as national invoices demand it; at level `B`. `DigestAlgorithm` stays SHA-256 or more: schemes that demand SHA-1 are not served.',
  }),
  'Xades:Canonicalization': key(choice(['Exclusive', 'Inclusive']), 'Exclusive', {
    says: 'Of a plain signature: Exclusive XML Canonicalization 1.0, or Canonical XML 1.0.',
  }),
  'Xades:ElementId': optional(text('text'), {
    says: 'Sign the element with this Id instead of the whole document.',
  }),
  'Xades:ElementPath': optional(text('location path'), {
    says: 'Sign the element that this location path selects, such as `/order/items[1]`: names, `*`, `//`, positions and tests of attributes. Without an Id it needs `CoSign`.',
  }),
  'Xades:Place': optional(text('location path'), {
    says: 'Sign the whole document, and put the signature into the element of this path, such as `//ext:UBLExtension[1]/ext:ExtensionContent`.',
  }),
  'Xades:Namespaces': key(list(namespace), [], {
    says: 'Namespaces of the prefixes in these paths, as `ext=urn:example`; other prefixes are those of the root element.',
  }),
  'Xades:Insertion': optional(choice(['FirstChild', 'LastChild', 'Before', 'After']), {
    says: 'Position of the signature in or beside that element. If absent: `LastChild` of the root and of `Place`, else `After`.',
  }),
  CoSign: key(flag(), false, {
    says: 'Cades: a file that is a signature already gets another one, `a.p7m` becomes `a.signed.p7m`; with `Container` a container does. Xades: the signature excludes all others, so that more can follow. PDFs always take another.',
  }),
} as const;

/** One configured profile. */
export type ProfileSettings = Shape<typeof PROFILE_KEYS>;

export const SIGNING_KEYS = {
  'Signing:Profiles': key(records(PROFILE_KEYS), [], {
    says: 'Signing profiles. Without any there is one, `default`, with the certificate of `Signing:Certificate` and `Format` `Auto`. An upload without a profile gets `default`, or the first one.',
  }),
  ...below('Signing:Certificate', CERTIFICATE_KEYS),
  'Signing:AllowSelfSigned': computed(
    flag(),
    '`true` in Development, `false` in Production',
    ({ environment }): boolean => environment === 'Development',
    {
      says: 'If a certificate is missing, generate a development CA and certificate under `{Root}/keys/` instead of refusing the start.',
    },
  ),
  'Signing:License': optional(secretText(), {
    says: 'Not required; accepted so that existing files load. A value that is not Base64 makes the service not ready.',
  }),
  'Signing:Trust:Roots': key(list(path()), [], {
    says: 'Files (PEM, DER, P7B) or folders with trusted root certificates. If empty, the last certificate of each configured chain is trusted.',
  }),
  'Signing:Trust:UseSystemRoots': key(flag(), false, {
    says: 'Also trust the root certificates of Node.',
  }),
  'Signing:Trust:Intermediates': key(list(path()), [], {
    says: 'Files or folders with more intermediate certificates.',
  }),
  'Signing:Trust:AllowAia': key(flag(), false, {
    says: 'Fetch missing issuers from the addresses in certificates (caIssuers), on the hosts of `Signing:Trust:AiaHosts` only. Issuers that a key file lacks are fetched at start and included in its signatures. `verify --online` and `extend` fetch in the same way.',
  }),
  'Signing:Trust:AiaHosts': key(list(hostName), [], {
    says: 'Host names or IP addresses that missing issuers may be fetched from. These hosts may have private addresses.',
  }),
  'Signing:Trust:Lists:Folder': optional(path(), {
    says: 'Folder with the list of lists, its pivots and national lists, read at each refresh.',
  }),
  'Signing:Trust:Lists:Refresh': key(flag(), false, {
    says: 'Fetch the European trusted lists. Signatures are then judged by them, and listed services trusted.',
  }),
  'Signing:Trust:Lists:RefreshHours': key(whole(1, 168), 6, {
    unit: 'hours',
    says: 'Time between refreshes.',
  }),
  'Signing:Trust:Lists:TimeoutSeconds': key(whole(1, 300), 60, {
    unit: 'seconds',
    says: 'Time limit of a list.',
  }),
  'Signing:Trust:Lists:Location': optional(listAddress, {
    says: 'Address of the list of lists, as its pointer to itself has it. If absent, the Commission’s.',
  }),
  'Signing:Trust:Lists:Anchors': optional(path(), {
    says: 'Folder with the journal’s certificates. If absent, those of C/2026/1944.',
  }),
  'Signing:Trust:Lists:Journal': optional(webUrl(), {
    says: 'Address of that journal.',
  }),
  'Signing:Trust:AllowPrivate': computed(
    flag(),
    '`false` in Production, else `true`',
    ({ environment }) => environment !== 'Production',
    {
      says: 'Allow loopback and private addresses of the OCSP responders, CRL servers and certificate servers in certificates. Configured time-stamp authorities may always have them.',
    },
  ),
  'Signing:Trust:Revocation': key(choice(['None', 'Soft', 'Hard']), 'Soft', {
    says: '`Soft`: a revoked certificate fails, a missing answer is a warning. `Hard`: both fail. `None`: no check.',
  }),
  'Signing:Trust:RevocationTimeoutSeconds': key(whole(1, 300), 5, {
    unit: 'seconds',
    says: 'Time limit of one revocation request.',
  }),
  'Signing:Trust:CacheMinutes': key(whole(1, 10_080), 60, {
    unit: 'minutes',
    says: 'Maximum time for which an answer and the validation of a certificate are cached.',
  }),
} as const;

export const ENCRYPTION_KEYS = {
  'Encryption:Enabled': key(flag(), false, {
    says: 'Encrypt outputs (`.enc`). The other `Encryption` keys are used only then.',
  }),
  'Encryption:Password': key(secretText(), '', {
    says: 'Password from which the key is derived; the variable of the next key replaces it when not empty.',
  }),
  'Encryption:PasswordEnvVar': computed(
    variable(),
    `\`${ENCRYPTION_VARIABLE}\``,
    ({ env }) => ({ variable: ENCRYPTION_VARIABLE, value: env[ENCRYPTION_VARIABLE] ?? '' }),
    { says: 'Environment variable that holds the password.' },
  ),
  'Encryption:Salt': key(secretText(), '', {
    says: 'Base64 of at least 16 bytes (32 advised). A file can be decrypted only with the salt it was encrypted with.',
  }),
  'Encryption:Iterations': key(whole(1), 600_000, {
    unit: 'rounds',
    says: 'Rounds of key derivation, at least 10000.',
  }),
} as const;
