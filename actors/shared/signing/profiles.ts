/** Signing profiles with loaded keys and trust anchors. Source: docs/batch-values.md §6.1. */
import {
  type DigestName,
  type LocalSigner,
  type MadePolicy,
  type PadesFormat,
  type QualificationDemand,
  type SignatureLevel,
  type SignaturePolicy,
  validityFault,
  type XadesFormat,
} from '@sealwright/signatures';
import type { JobFormat } from '../../../machines/batch/job-context.ts';
import type { Extent, ParameterName } from '../../../machines/batch/signing-parameters.ts';
import type { Millis, ProfileName } from '../../../machines/ids.ts';
import { type OutputFormat, PLAIN_FORM } from '../files/output-names.ts';
import type { ServiceSigner } from '../key-services/key-service.ts';

interface ProfileBase {
  readonly name: ProfileName;
  /** Undefined: determined by each file's name. */
  readonly format: JobFormat | undefined;
  /** `Verify`: verifies the output before publication. */
  readonly verify: boolean;
  /** `VerifyIndependently`: a second implementation validates the output too. @default false */
  readonly verifyIndependently?: boolean;
  /** `Require`: least qualification of the signatures. @default any */
  readonly demand?: QualificationDemand | undefined;
  /** `Encrypt`: encrypts the output. */
  readonly encrypt: boolean;
  /** DER trust anchors; empty = the certificate chain is not checked. */
  readonly anchors: readonly Buffer[];
  /** @default as the document names and forms outputs */
  readonly form?: Omit<OutputFormat, 'encrypted'>;
  /** `Overrides`: what an upload may set. @default nothing */
  readonly overrides?: readonly ParameterName[];
}

/** Visible signature of a profile; its texts depend on the job. */
export interface AppearanceChoice {
  /** 1-based; `last` for the last one. */
  readonly page: number | 'last';
  readonly left: Extent;
  readonly top: Extent;
  readonly width: Extent;
  readonly height: Extent;
  /** With placeholders. */
  readonly lines: readonly string[];
  /** PNG or JPEG. */
  readonly image?: Uint8Array;
  readonly timeZone: string;
}

/** A time-stamp authority as configured. */
interface TimestampSettings {
  /** Absolute, http or https. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** Time limit of one response, milliseconds. */
  readonly timeoutMs: number;
}

/** Signature options of a profile; plain data for the pool threads. */
export interface SigningChoices {
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** Needed above level B. */
  readonly timestamp?: TimestampSettings;
  readonly digest?: DigestName;
  /** @default 'pkcs1' */
  readonly padding?: 'pkcs1' | 'pss';
  readonly includeChain?: boolean;
  readonly policy?: SignaturePolicy | MadePolicy;
  /** `Pades:Password`: opens encrypted PDFs. */
  readonly password?: string;
  readonly pades?: Omit<PadesFormat, 'appearance' | 'content'>;
  readonly appearance?: AppearanceChoice;
  readonly xades?: XadesFormat;
  /** `CoSign`: CMS and containers that are signed already get another signature. @default false */
  readonly coSign?: boolean;
}

/** Description of a certificate for users. */
interface CertificateSummary {
  /** `Pfx`, `Pem`, `Pkcs11`, a key service, or `Development` for a generated one. */
  readonly source: string;
  readonly subject: string;
  /** SHA-1, upper-case hex. */
  readonly thumbprint: string;
  readonly notAfter: Millis;
}

/** Reason why a profile cannot sign. */
export interface CertificateProblem {
  /** `certificate.expired`, `certificate.not-yet-valid`, or a code of `loadSigner`. */
  readonly code: string;
  /** Message; names local files. */
  readonly message: string;
}

/** Profile that signs locally. */
export interface LocalProfile extends ProfileBase {
  readonly method: 'Local';
  /** Undefined in case of `loadFailure`. */
  readonly signer: LocalSigner | ServiceSigner | undefined;
  /** Reason why certificate and key could not be loaded at start. */
  readonly loadFailure?: CertificateProblem;
  /** Trouble of a key at a service that did not sign at start: jobs wait until it does. */
  readonly keyTrouble?: CertificateProblem;
  /** Files of certificate and key, or the place of a wrong password, with their configuration keys, for messages. */
  readonly certificateFiles?: string;
  readonly choices?: SigningChoices;
  /** `ValidateCertificate`: the certificate is validated before each signature. @default false */
  readonly validateCertificate?: boolean;
  readonly facts?: CertificateSummary;
  /** Start of the certificate's validity, milliseconds since the epoch. @default no lower bound */
  readonly validFrom?: Millis;
  /** End of the certificate's validity, milliseconds since the epoch. */
  readonly validTo: Millis;
  /** Source and subject of the certificate, for messages. */
  readonly certificate: string;
}

/** Profile whose files a person signs on the remote portal. */
export interface RemoteProfile extends ProfileBase {
  readonly method: 'RemoteSigner';
  /** `RemoteSigner:CompareContent`: what comes back must be a signature of what was sent. @default true */
  readonly compareContent?: boolean;
  readonly participant: {
    readonly name: string;
    readonly email: string;
    readonly identifier: string;
    readonly allowElectronicSignature: boolean;
  };
}

export type Profile = LocalProfile | RemoteProfile;

/** The format of a profile's outputs. */
export function outputFormatOf({
  form = PLAIN_FORM,
  encrypt,
}: Pick<Profile, 'form' | 'encrypt'>): OutputFormat {
  return { ...form, encrypted: encrypt };
}

export class Profiles {
  readonly #all: readonly Profile[];

  /** @param all at least one; the default is the one named `default`, else the first */
  constructor(all: readonly Profile[]) {
    this.#all = all;
  }

  get all(): readonly Profile[] {
    return this.#all;
  }

  /** The profile of exactly this name; the default one for undefined or an empty name. */
  find(name: string | undefined): Profile | undefined {
    if (name) return this.#all.find((profile) => profile.name === name);
    return this.#all.find((profile) => profile.name === 'default') ?? this.#all[0];
  }
}

/** Returns why the profile cannot sign at `now`, and what to do; undefined when it can. */
export function certificateProblem(
  profile: LocalProfile,
  now: Millis,
): (CertificateProblem & { readonly remedy: string }) | undefined {
  const { loadFailure, validFrom = Number.NEGATIVE_INFINITY, validTo, certificateFiles } = profile;
  const files = certificateFiles ?? 'certificate and key';
  if (loadFailure !== undefined) {
    const correct = loadFailure.code === 'key.unavailable' ? 'Connect the token, or correct' : 'Correct';
    return { ...loadFailure, remedy: `${correct} ${files} and restart the service.` };
  }
  const fault = validityFault({ notBefore: validFrom, notAfter: validTo }, now);
  if (fault === undefined) return undefined;
  const remedy =
    fault.code === 'certificate.expired'
      ? `Replace ${files} and restart the service.`
      : `Jobs succeed from then on; to sign before, replace ${files} and restart the service.`;
  return { ...fault, remedy };
}

/** True for a remote profile, and for a local one that can sign at `now`. */
export function canSign(profile: Profile, now: Millis): boolean {
  return profile.method === 'RemoteSigner' || certificateProblem(profile, now) === undefined;
}
