/**
 * Signing profiles with their keys loaded, and where each certificate's trust ends.
 * Source: batch-gaps §6.1.
 */
import type {
  DigestName,
  LocalSigner,
  PadesForm,
  SignatureLevel,
  SignaturePolicy,
  XadesForm,
} from '../crypto/index.ts';
import type { Millis, ProfileName } from '../machines/ids.ts';
import type { JobFormat } from '../machines/job-context.ts';
import { type OutputForm, PLAIN_FORM } from './file-names.ts';

interface ProfileBase {
  readonly name: ProfileName;
  /** undefined: told by each file's name. */
  readonly format: JobFormat | undefined;
  /** `Verify`: what was signed is read back and checked before it is published. */
  readonly verify: boolean;
  /** `Encrypt`: the output is an encryption envelope. */
  readonly encrypt: boolean;
  /** DER trust anchors; empty = the chain of what was signed is not checked. */
  readonly anchors: readonly Buffer[];
  /** @default as the document names and forms outputs */
  readonly form?: Omit<OutputForm, 'encrypted'>;
}

/** A time-stamp authority as configured. */
export interface TimestampSettings {
  /** Absolute, http or https. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** For one answer, milliseconds. */
  readonly timeoutMs: number;
}

/** How signatures of a profile are made; plain data, given to the pool's threads. */
export interface SigningChoices {
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** Needed above level B. */
  readonly timestamp?: TimestampSettings;
  readonly digest?: DigestName;
  readonly includeChain?: boolean;
  readonly policy?: SignaturePolicy;
  readonly pades?: PadesForm;
  readonly xades?: XadesForm;
}

/** What people are told about a certificate. */
export interface CertificateFacts {
  /** `Pfx`, `Pem`, `Pkcs11`, or `Development` for one that was made here. */
  readonly source: string;
  readonly subject: string;
  /** SHA-1, upper-case hex. */
  readonly thumbprint: string;
  readonly notAfter: Millis;
}

/** Signs here, with a certificate of its own. */
export interface LocalProfile extends ProfileBase {
  readonly method: 'Local';
  readonly signer: LocalSigner;
  readonly choices?: SigningChoices;
  /** `ValidateCertificate`: the certificate is validated before each signature. @default false */
  readonly validateCertificate?: boolean;
  readonly facts?: CertificateFacts;
  /** End of the certificate's validity, milliseconds since the epoch. */
  readonly validTo: Millis;
  /** For people: where the certificate came from and whose it is. */
  readonly certificate: string;
}

/** Hands files to the remote portal, where one person signs them. */
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

/** The form of what a profile publishes. */
export function formOf({ form = PLAIN_FORM, encrypt }: Pick<Profile, 'form' | 'encrypt'>): OutputForm {
  return { ...form, encrypted: encrypt };
}

export class Profiles {
  readonly #all: readonly Profile[];

  /** At least one; the first is used when nothing is named and none is called `default`. */
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
