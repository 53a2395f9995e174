/**
 * Result of planning one packaging before the key is needed: the references, and where the signature is placed in the
 * output.
 */
import { createHash, type Hash } from 'node:crypto';
import type { SignatureAlgorithm, SignatureParameters, SignerIdentity, XadesFormat } from '../core/types.ts';
import type { ByteSink } from '../xml/index.ts';
import { ID_PREFIX } from './elements/signature-survey.ts';
import type { DataReference } from './elements/signature-text.ts';

export interface PlanRequest extends Pick<SignatureParameters, 'at'> {
  readonly signer: Pick<SignerIdentity, 'fingerprint'>;
  readonly algorithm: SignatureAlgorithm;
  readonly form: XadesFormat;
  /** True when an archive time-stamp follows. @default false */
  readonly archived?: boolean;
}

export interface SigningPlan {
  readonly id: string;
  readonly references: readonly DataReference[];
  /**
   * Hash over the bytes of all references in order, with the digest of the algorithm: the start of an archive
   * time-stamp's imprint. Callers copy it and do not finish it. Undefined unless `archived` was requested.
   */
  readonly signed: Hash | undefined;
  readonly frame: Frame;
  /**
   * Writes the canonical form of the objects that hold signed content: the end of an archive time-stamp's imprint.
   */
  writeObjects?(sink: ByteSink): void;
}

/**
 * Layout of the output: bytes of the input up to `cut`, `lead`, the signature, `trail`, bytes of the input from
 * `resume` on. The signature may hold an object made from the input.
 */
export interface Frame {
  /** Offset in the input. */
  readonly cut: number;
  readonly resume: number;
  readonly lead: string;
  readonly trail: string;
  readonly object?: {
    /** Start tag of the object, in ASCII. */
    readonly open: string;
    /** `verbatim`: the input between `cut` and `resume`; `base64`: all of it. */
    readonly content: 'verbatim' | 'base64';
  };
  /** Encodes text in the encoding of the output. */
  encode(text: string): Buffer;
}

/**
 * Returns the requested identifier, or one derived from content, signer and time: equal requests give equal output.
 */
export function idFor(
  digest: Buffer,
  { at, signer, form }: Pick<PlanRequest, 'at' | 'signer'> & Partial<Pick<PlanRequest, 'form'>>,
  isFree: (id: string) => boolean = () => true,
): string {
  const seed = createHash('sha256').update(digest).update(`${at} ${signer.fingerprint}`);
  const base = form?.id ?? ID_PREFIX + seed.digest('hex').slice(0, 32);
  if (isFree(base)) return base;
  for (let number = 2; ; number++) {
    const id = `${base}.${number}`;
    if (isFree(id)) return id;
  }
}

/** Returns the digest, and a copy of the hash state when more data follows. Copying has a cost. */
export function endOrKeep(
  hash: Hash,
  { archived = false }: Pick<PlanRequest, 'archived'>,
): { readonly digest: Buffer; readonly signed: Hash | undefined } {
  if (!archived) return { digest: hash.digest(), signed: undefined };
  return { digest: hash.copy().digest(), signed: hash };
}

/** Layout of a signature in its own file. */
export const ALONE: Pick<Frame, 'lead' | 'trail' | 'encode'> = {
  lead: '<?xml version="1.0" encoding="UTF-8"?>\n',
  trail: '',
  encode: (text) => Buffer.from(text),
};
