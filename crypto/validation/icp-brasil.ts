/**
 * Signature policies of ICP-Brasil. What AD-RV, AD-RC and AD-RA demand beside the signature has to be there; references to
 * evidence, time-stamps over them, archive time-stamps of older forms and copies of lists are not compared, which is a warning.
 *
 * Source: DOC-ICP-15.03 v9.1, the policies and the approved lists (LPA) for CAdES and XAdES of 2025-06-12 and for PAdES of 2025-07-23.
 */
import {
  CryptoError,
  type SignatureFormat,
  type SignatureLevel,
  type SignatureParameters,
  type SignaturePolicy,
  type SignerIdentity,
} from '../core/types.ts';
import { type Finding, passed, type SubIndication, warned } from '../core/validation-report.ts';
import type { Certificate } from '../x509/certificate.ts';
import { keyBits } from '../x509/key-types.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';

/** Names the policy, and holds what its rules ask of the signature. */
export interface PolicyUse {
  /** Digest of the policy, as signed; undefined: there is none that can be read. */
  readonly digest: { readonly hash: string | undefined; readonly value: Buffer } | undefined;
  /** Scheme and hash of the value: `rsa-pkcs1 sha256`. */
  readonly method: string;
  /** Version of the attribute that names the signer's certificate. */
  readonly naming: 1 | 2 | undefined;
  /** Certificates in the signature. */
  readonly inside: readonly Certificate[];
  /** Unsigned attributes, by dotted type or local name, and `DSS <key>` and `VRI <key>` of a PDF that are not empty. */
  readonly unsigned: ReadonlySet<string>;
  /** Filter and SubFilter of a PDF. */
  readonly pdfNames?: string;
}

/** A signature, and what was found of trust in it. */
export interface PolicyCase {
  readonly policy: string;
  readonly use: PolicyUse | undefined;
  readonly format: SignatureFormat;
  /** Of the signer. */
  readonly certificate: Certificate | undefined;
  /** Claimed and earliest proven time, milliseconds since the epoch. */
  readonly claimed: number | undefined;
  readonly proven: number;
  /** SHA-256, in hexadecimal, of the root to which the signer leads; undefined: to none. */
  readonly root: string | undefined;
  /** Those of the authorities of the valid time-stamps over the signature. */
  readonly stampRoots: readonly (string | undefined)[];
  /** Those of the valid archive and document time-stamps. */
  readonly archiveRoots: readonly (string | undefined)[];
}

const ARC = '2.16.76.1.7.1.';

const FORMS = {
  Cades: { first: 1, kinds: ['AD-RB', 'AD-RT', 'AD-RV', 'AD-RC', 'AD-RA'], naming: 2 },
  Xades: { first: 6, kinds: ['AD-RB', 'AD-RT', 'AD-RV', 'AD-RC', 'AD-RA'], naming: 1 },
  Pades: { first: 11, kinds: ['AD-RB', 'AD-RT', 'AD-RC', 'AD-RA'], naming: 2 },
} as const;

type Form = keyof typeof FORMS;

/** Name in `unsigned` of an archive time-stamp of XAdES before 1.4.1. */
export const OLD_ARCHIVE = 'ArchiveTimeStamp of 1.3.2';

const ESS = '1.2.840.113549.1.9.16.2.';
const IN_CMS = { references: [`${ESS}21`, `${ESS}22`], values: [`${ESS}23`, `${ESS}24`] };
const IN_XML = {
  references: ['CompleteCertificateRefs', 'CompleteRevocationRefs'],
  values: ['CertificateValues', 'RevocationValues'],
};
const IN_PDF = ['DSS Certs', 'DSS CRLs|DSS OCSPs', 'VRI Cert', 'VRI CRL|VRI OCSP'];
const LISTS = ['PolicyArtifact', 'LpaArtifact', 'LpaSignature'].flatMap((name) => [
  `DSS PBAD_${name}s`,
  `VRI PBAD_${name}`,
]);

/** Unsigned attributes and entries that each kind demands beside a signature time-stamp; `|` is between those of which one is enough. */
const DEMANDED: { readonly [form in Form]: { readonly [kind: string]: readonly string[] } } = {
  Cades: {
    'AD-RV': [...IN_CMS.references, `${ESS}25`],
    'AD-RC': [...IN_CMS.references, `${ESS}25`, ...IN_CMS.values],
    'AD-RA': [...IN_CMS.references, ...IN_CMS.values, `${ESS}48`],
  },
  Xades: {
    'AD-RV': [...IN_XML.references, 'SigAndRefsTimeStamp'],
    'AD-RC': [...IN_XML.references, 'SigAndRefsTimeStamp', ...IN_XML.values],
    'AD-RA': [...IN_XML.references, ...IN_XML.values, 'ArchiveTimeStamp'],
  },
  Pades: { 'AD-RC': IN_PDF, 'AD-RA': [...IN_PDF, ...LISTS] },
};

/** Roots, SHA-256 of their certificates. */
const ROOT_V2 = 'fb47d92a9909fd4fa9bec02737543e1f3514ced747407a8d9cfa397b0915067c';
const ROOT_V5 = 'caa53fc6091c6951887c976e378f6ef89aa6377c55d97b6475422b71ed7e9b17';
const ROOT_V12 = 'd8478e37ce19c690cf657381e68fe600e4e1a042536830f06847e03e554c4b01';

const RSA = { 'rsa-pkcs1 sha256': 2_048, 'rsa-pkcs1 sha512': 2_048 };
const ECDSA = { 'ecdsa sha256': 256, 'ecdsa sha512': 256 };

interface Rules {
  readonly roots: readonly string[];
  /** Fewest bits of keys by method. */
  readonly methods: { readonly [method: string]: number };
}

/** Rules of the policies of one time. Curve25519 has 255 bits, which policies call 256. */
export const RULES: { readonly [name in 'a' | 'b' | 'c' | 'd']: Rules } = {
  a: { roots: [ROOT_V2], methods: { 'rsa-pkcs1 sha256': 2_048 } },
  b: { roots: [ROOT_V2, ROOT_V5], methods: RSA },
  c: { roots: [ROOT_V5, ROOT_V12], methods: { ...RSA, ...ECDSA, 'ed25519 sha512': 255 } },
  d: { roots: [ROOT_V5, ROOT_V12], methods: { ...RSA, ...ECDSA } },
};

/** A policy: number after the arc, first and last day of signatures, rules, and the digest that it has in itself, which signatures name: the lists have that of its file. */
type Row = readonly [number: string, from: string, until: string, rules: keyof typeof RULES, digest: string];

/** A revoked policy ends with its revocation. */
export const ICP_BRASIL: readonly Row[] = [
  ['1.2.1', '2012-03-07', '2017-02-26', 'a', '3VfJikMTvBOYzmVD04AkWJV89xauMpTsTYwmJRKR5sE='],
  ['1.2.2', '2016-04-27', '2029-03-02', 'b', 'D2+ixigZgXFslceYmQOYRFI7HGHCyWIonNrHgR/u4p4='],
  ['1.2.3', '2018-05-14', '2029-03-02', 'b', 'sW6Iu/dzIqZ5lbeQeHeO09DqfIhYe29tUYtxXo92o9U='],
  ['1.2.4', '2025-06-12', '2037-10-22', 'c', 'HzyQTETDkv7vRH4h+qegToXZwBUzRjIPVXtwQq9dzxM='],
  ['2.2.1', '2012-03-07', '2017-02-26', 'a', 'IX2OaLXa/Ka8cv5hDj7J+cuffXWwmQkcJBBvSKZSeg8='],
  ['2.2.2', '2016-04-27', '2029-03-02', 'b', 'L8KMYVWgV0VY2SxnTUcVjNrbEUTqrq/aHNdtupZ6Z3Q='],
  ['2.2.3', '2018-05-14', '2029-03-02', 'b', 'gN/oHiqK52LNNgJTcikiMy7hAWTZkhVthHxHyPuHnNI='],
  ['2.2.4', '2025-06-12', '2037-10-22', 'c', '+lncptnA6Ajrc5ey3oAMzlsOTaLELi5e8klqLOa63Lc='],
  ['3.2.1', '2012-03-07', '2017-02-26', 'a', '4eng0xjzzXyxuFO3GvGC3QLaIx/KB8aGjANKhVmjl6M='],
  ['3.2.2', '2016-04-27', '2029-03-02', 'b', '/ycnzqh4VpHGBnbOJAx7954VhrN1HS0wy+E2AbeWxps='],
  ['3.2.3', '2018-05-14', '2029-03-02', 'b', 'CKuXmaUo4hFHjvUAPkzsnDN8qCg43h1qc3LIeJk0rUs='],
  ['3.2.4', '2025-06-12', '2037-10-22', 'c', 'rI0ymRiaWPiOyTjRtZGPZb2dGyLh0aMrmY8/3wfsM0I='],
  ['4.2.1', '2012-03-07', '2017-02-26', 'a', 'DDGA3NxARBNBXbw+Opka5tBueb4r/IWz0cNOkMHykrw='],
  ['4.2.2', '2016-04-27', '2029-03-02', 'b', 'k93iKIwCxNe2dEAocbQygnLUu8eR2/+1vWBh2BLP5gk='],
  ['4.2.3', '2018-05-14', '2029-03-02', 'b', 'IQbqWczC0xTlt/HHVQagPzuQvV62NrSAdda2DnSJvxg='],
  ['4.2.4', '2025-06-12', '2037-10-22', 'c', 'qw3TN1gPfM1iROMPKiny6XYUrUEYOKChF51HlQT1Uis='],
  ['5.2.2', '2012-09-21', '2017-02-26', 'a', 'kHqxIIaVX3IB3V3JY25tEYAPCPt/zR5k237dCh5rG6k='],
  ['5.2.3', '2016-04-27', '2029-03-02', 'b', 'OjOcfsHUfqwNBLTQY3fU/VtBezZ+V4kMPokEdZIvJmk='],
  ['5.2.4', '2018-05-14', '2029-03-02', 'b', '4hpHa2XrZHrUBWt949NROosU9qjeZ21oH6NiBm6wtig='],
  ['5.2.5', '2025-06-12', '2037-10-22', 'c', 'BTHuM4rLUzZMizFqEdkEI+4z5xTLNl2cRWK5D6R9kJk='],
  ['6.2.3', '2016-04-27', '2029-03-02', 'b', 'gh8ZgWP10SSwGxsW1N6d5LpYv3uTt1IAVYU4hj4y0RA='],
  ['6.2.4', '2018-05-14', '2029-03-02', 'b', 'V1oxev3+Z5tia7oVifHtePiXskTb6LP9K1QE2u1zoV4='],
  ['6.2.5', '2025-06-12', '2037-10-22', 'd', '68MGt+PxAOyh6mLwiAgyBsbsWsQMOuGNQmlR9lbh7hg='],
  ['7.2.3', '2016-04-27', '2029-03-02', 'b', 'pWNimkGlQBbpWipRz6mDPU8Y+/JQy+d+ioZflOpXzls='],
  ['7.2.4', '2018-05-14', '2029-03-02', 'b', 'fQ9XHn48E2jgyG/zu02V5o5Ib5KXcRygVhCHA38CO1E='],
  ['7.2.5', '2025-06-12', '2037-10-22', 'd', 'QAe4I89v0PAKtDT5LBa0vcfXfQqqfnzO55yESKejY4k='],
  ['8.2.3', '2016-04-27', '2029-03-02', 'b', '03SyzCAdt41esKRdRaTUpz+xh/5emdNl3W8bDTyGC90='],
  ['8.2.4', '2018-05-14', '2029-03-02', 'b', 'Ic4jADGfTrH+FGA6H7/z579ICvhLuS+i50HrEOWNv24='],
  ['8.2.5', '2025-06-12', '2037-10-22', 'd', 'Qq5w8vvxT8DQsyAjdYSuczvqUC3MM0kE6w8ooQVDDUk='],
  ['9.2.3', '2016-04-27', '2029-03-02', 'b', 'NOAVZqUHzTBYViU2hL1z0inLZK8PeHrwV9SqKnQhg5w='],
  ['9.2.4', '2018-05-14', '2029-03-02', 'b', 'JMLUkTNofr0oLNIBbVn5FMnQ0QE/XoDOgSTHP5MJbd4='],
  ['9.2.5', '2025-06-12', '2037-10-22', 'd', 'sVlccUtWS2woJF9XW+LqJqAkLvAaQG66RXeiVULdzcU='],
  ['10.2.3', '2016-04-27', '2029-03-02', 'b', 'qipT2sA6/iY9Z14EeVBdoiDWxdqsu5WEuY23mxbADmE='],
  ['10.2.4', '2018-05-14', '2029-03-02', 'b', '4MEGXPRYURDgkJwXyjsIT4KKq2JfH9aZcW3HbUPWD24='],
  ['10.2.5', '2025-06-12', '2037-10-22', 'd', '2JPvWGGl/AXIbRAKRcWM0v6Q+bhy/lNB+b7bwadyPY4='],
  ['11.1', '2015-08-25', '2029-03-02', 'b', 'UB1ptLcfxuVzI8LHQTGpyMYkCb43i6eI3CiFVWEbnlg='],
  ['11.1.1', '2018-05-14', '2029-03-02', 'b', 'RPxYFustcF2MjwIqf5Oz+0nt+uGnuRSe9vq4M+m7Y/g='],
  ['11.1.2', '2025-06-12', '2025-07-23', 'c', 'vyI1jJY7UpcfGMgi2FKcUWP+VfqO7RBo0yetxrwILuI='],
  ['11.1.3', '2025-07-23', '2037-10-22', 'c', 'I+S+S5s2IXLk67DnK4ahM+zlqthD2GUcbjiguj8I/GA='],
  ['12.1', '2015-08-25', '2029-03-02', 'b', 'zvu6AUcHe9IW6wTSslxWw9SsYNu+CM3Wl9Lc0AKbVug='],
  ['12.1.1', '2018-05-14', '2029-03-02', 'b', '+h1E52rZHi9s1HG2mH6cDxxw1LcNoJVue+z03HksDB8='],
  ['12.1.2', '2025-06-12', '2025-07-23', 'c', 'GeC+Mdkab/ppS74OmzXkvC+Hf2LcasengzraY0XhWvg='],
  ['12.1.3', '2025-07-23', '2037-10-22', 'c', 'Idbo2fheVibccTBzN6fKvW/++NCFA4dGd1zwzmuk07U='],
  ['13.1', '2015-08-25', '2016-07-15', 'b', 's9ip72tHWozWLwez7biwvZdN0VoWXusZe9mH11keD+4='],
  ['13.1.1', '2016-07-15', '2029-03-02', 'b', 'P+Xh7uqfZyNWjcniwxPA4ZyBf6qSOrKbUup20ftTAnw='],
  ['13.1.2', '2018-05-14', '2029-03-02', 'b', 'n3Q2lrgh5TUlLBffdUzZN5/S07aHAXkkjGSlyAYEOZ0='],
  ['13.1.3', '2025-06-12', '2025-07-23', 'c', 'I1SIhZ962l1JhMNkzByO7kZz+3xw/4sZ3SNqhvPYfMI='],
  ['13.1.4', '2025-07-23', '2037-10-22', 'c', 'cS8YqfAWPB6Q2m/wtxZVQzeKGKDwbTyyFmgGfKwim9I='],
  ['14.1', '2015-08-25', '2016-07-15', 'b', 'bR3VUhF9HeQC9RX593750wshYplfk6IpDBNMnCQ4e98='],
  ['14.1.1', '2016-07-15', '2029-03-02', 'b', 'KsUMW+TM3eXCQKSjBPcCFkKEFkKqDti0A+bFGN2dgbY='],
  ['14.1.2', '2018-05-14', '2029-03-02', 'b', 'HxuOdL6WJrwXAtQM4cEm6xycr3ut5rH9d5yPYOcz3Xw='],
  ['14.1.3', '2025-06-12', '2025-07-23', 'c', 'VCYA76p8rI4duM7lcu8nX2FX3ifPXi/XVGauLc+PqwQ='],
  ['14.1.4', '2025-07-23', '2037-10-22', 'c', '/6n9R0gS9s5j1iVnnJ7yNaZUewF76UGywJSqho5n4SM='],
];

/** Returns form and kind of a policy with its version; undefined for policies of others. */
export function policyKind(
  policy: string,
): { readonly form: Form; readonly kind: string; readonly version: string } | undefined {
  if (!policy.startsWith(ARC)) return undefined;
  const [first, ...version] = policy.slice(ARC.length).split('.');
  for (const form of ['Cades', 'Xades', 'Pades'] as const) {
    const kind = FORMS[form].kinds[Number(first) - FORMS[form].first];
    if (kind !== undefined) return { form, kind, version: version.join('.') };
  }
  return undefined;
}

/** Returns the name of a policy, with its version, `ICP-Brasil AD-RB 2.4`; undefined for policies of others. */
export function policyName(policy: string): string | undefined {
  const found = policyKind(policy);
  return found && `ICP-Brasil ${found.kind} ${found.version}`;
}

interface Judged extends PolicyCase {
  readonly use: PolicyUse;
  readonly row: Row;
  readonly form: Form;
  readonly kind: string;
}

interface PolicyRule {
  readonly type: string;
  /** Undefined: it is a warning. */
  readonly subIndication: SubIndication | undefined;
  readonly good: string;
  readonly bad: string;
  /** Warning where `holds` is undefined: what is demanded is not supported here. */
  readonly open?: string;
  readonly holds: (judged: Judged) => boolean | undefined;
}

function isMethod([, , , rules]: Row, method: string, bits = 0): boolean {
  const { methods } = RULES[rules];
  return Object.hasOwn(methods, method) && bits >= (methods[method] ?? 0);
}

const isRoot = ({ row }: Judged, root: string | undefined): boolean =>
  root !== undefined && RULES[row[3]].roots.includes(root);

/** Rules of each policy. */
export const POLICY_RULES: readonly PolicyRule[] = [
  {
    type: 'policy.digest',
    subIndication: 'POLICY_PROCESSING_ERROR',
    good: 'The signature names the policy by its digest.',
    bad: 'The signature names the policy with another digest.',
    holds: ({ use: { digest }, row }) =>
      digest?.hash === 'sha256' && digest.value.equals(Buffer.from(row[4], 'base64')),
  },
  {
    type: 'policy.form',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature is of the form of its policy.',
    bad: 'The signature is of another form than its policy.',
    // Before there were policies of PDFs, they had those of CAdES.
    holds: ({ form, format }) => form === format || (form === 'Cades' && format === 'Pades'),
  },
  {
    type: 'policy.certificate',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature has the certificate of the signer, and names it as its policy demands.',
    bad: 'The signature lacks the certificate of the signer, or names it in another form than its policy demands.',
    holds: ({ use: { naming, inside }, form, certificate }) =>
      naming === FORMS[form].naming && inside.some((one) => one.fingerprint === certificate?.fingerprint),
  },
  {
    type: 'policy.method',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'Algorithm and key are those of the policy.',
    bad: 'The policy does not allow the algorithm, or the key is too short for it.',
    holds: ({ use: { method }, row, certificate }) =>
      isMethod(row, method, certificate && keyBits(certificate.publicKey)),
  },
  {
    type: 'policy.period',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature is of the time in which the policy was approved.',
    bad: 'Nothing proves that the signature is of the time in which the policy was approved.',
    holds: ({ claimed = Number.POSITIVE_INFINITY, proven, row: [, from, until] }) =>
      Math.min(claimed, proven) >= Date.parse(from) && proven < Date.parse(until) + DAY_MS,
  },
  {
    type: 'policy.root',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signer leads to a root of the policy.',
    bad: 'The signer leads to no root of the policy.',
    holds: (judged) => isRoot(judged, judged.root),
  },
  {
    type: 'policy.timestamp',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature has the time-stamps that its policy demands.',
    bad: 'The policy demands a valid time-stamp whose authority leads to one of its roots.',
    holds: (judged) =>
      judged.kind === 'AD-RB' ||
      (judged.kind === 'AD-RA' && judged.form !== 'Pades') ||
      judged.stampRoots.some((root) => isRoot(judged, root)),
  },
  {
    type: 'policy.attributes',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature has what its policy demands beside it.',
    bad: 'The signature lacks references, evidence, time-stamps or lists that its policy demands beside it.',
    holds: ({ form, kind, use: { unsigned } }) =>
      (DEMANDED[form][kind] ?? []).every((names) => names.split('|').some((name) => unsigned.has(name))),
  },
  {
    type: 'policy.archive',
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
    good: 'The signature has the archive time-stamp that its policy demands.',
    bad: 'The policy demands a valid archive or document time-stamp whose authority leads to one of its roots.',
    open: 'The policy demands an archive time-stamp of an older form, which is not supported here.',
    holds: (judged) => {
      const { form, kind, use, archiveRoots } = judged;
      if (kind !== 'AD-RA' && (kind !== 'AD-RC' || form !== 'Pades')) return true;
      // Policies of CAdES demand the second form alone.
      if (form === 'Cades') return undefined;
      if (archiveRoots.some((root) => isRoot(judged, root))) return true;
      return form === 'Xades' && use.unsigned.has(OLD_ARCHIVE) ? undefined : false;
    },
  },
  {
    type: 'policy.references',
    subIndication: undefined,
    good: 'The policy demands no references to evidence and no copies of lists.',
    bad: 'The policy demands references to evidence, or copies of lists, that are not compared here.',
    holds: ({ form, kind }) => kind === 'AD-RB' || kind === 'AD-RT' || (form === 'Pades' && kind === 'AD-RC'),
  },
  {
    // The authority's own verifier accepts others, which more programs open.
    type: 'policy.pdf-names',
    subIndication: undefined,
    good: 'The signature has the names of its policy.',
    bad: 'The signature of the PDF has other names than those that policies of PDFs write.',
    holds: ({ format, form, use: { pdfNames } }) =>
      format !== 'Pades' || (form === 'Pades' && pdfNames === 'PBAD_PAdES PBAD.PAdES'),
  },
];

/** Days of the lists are in universal time. */
const DAY_MS = 86_400_000;

/** Policies under which signatures are made. */
export type MadePolicy = 'ICP-Brasil:AD-RB' | 'ICP-Brasil:AD-RT';

/** A signature to be made under a policy. */
export interface PolicyRequest extends Pick<SignatureParameters, 'at' | 'digest' | 'padding'> {
  readonly format: SignatureFormat;
  readonly signer: SignerIdentity;
  /** @default 'B' */
  readonly level?: SignatureLevel;
}

/**
 * Finds the newest version of a policy, which signatures made at that time name. The root of the signer is not compared.
 * @throws {CryptoError} `request.invalid` when there is none, or the key, the parameters or the level do not fit it
 */
export function policyToSign(
  name: MadePolicy,
  { format, at, signer, level = 'B', ...parameters }: PolicyRequest,
): SignaturePolicy {
  const row = ICP_BRASIL.findLast(([number, from, until]) => {
    const { form, kind } = policyKind(ARC + number) ?? {};
    const isOfTime = at >= Date.parse(from) && at < Date.parse(until) + DAY_MS;
    return form === format && `ICP-Brasil:${kind}` === name && isOfTime;
  });
  if (row === undefined)
    throw new CryptoError('request.invalid', `No version of ${name} counts at that time.`);
  const { scheme, digest } = algorithmOf(signer, parameters);
  if (!isMethod(row, `${scheme} ${digest}`, signer.keyBits))
    throw new CryptoError(
      'request.invalid',
      `${name} allows no ${scheme} ${digest} with a key of ${signer.keyBits} bits.`,
    );
  if (name === 'ICP-Brasil:AD-RT' && level === 'B')
    throw new CryptoError('request.invalid', `${name} demands a time-stamp: a level above B.`);
  const oid = ARC + row[0];
  const version = policyKind(oid)?.version.replace('.', '_');
  const file = `PA_${format === 'Pades' ? 'PAdES_' : ''}${name.slice(-5).replace('-', '_')}_v${version}`;
  const uri = `http://politicas.icpbrasil.gov.br/${file}.${format === 'Xades' ? 'xml' : 'der'}`;
  return { oid, digest: 'sha256', hash: Buffer.from(row[4], 'base64'), uri };
}

/** Judges a signature by its policy; nothing for the policies of others. */
export function policyFindings(found: PolicyCase): Finding[] {
  const kind = policyKind(found.policy);
  if (kind === undefined) return [];
  const type = 'policy.known';
  const detail = `${policyName(found.policy)}, ${found.policy}`;
  const row = ICP_BRASIL.find(([number]) => ARC + number === found.policy);
  const { use } = found;
  if (row === undefined || use === undefined)
    return [
      warned(type, 'The policy of the signature is not known here; its rules were not judged.', detail),
    ];
  const judged: Judged = { ...found, use, row, form: kind.form, kind: kind.kind };
  return [
    passed(type, 'The policy of the signature is known.', detail),
    ...POLICY_RULES.map(({ type, subIndication, good, bad, open, holds }): Finding => {
      const isKept = holds(judged);
      if (isKept === true) return passed(type, good);
      if (isKept === undefined && open !== undefined) return warned(type, open, detail);
      if (subIndication === undefined) return warned(type, bad, detail);
      return { status: 'failed', type, message: bad, detail, subIndication };
    }),
  ];
}
