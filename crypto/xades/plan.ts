/**
 * What one packaging finds out before the key is needed: what is signed, by which references, and where in the output
 * the signature will stand.
 */
import { createHash, type Hash } from 'node:crypto';
import type { SignatureAlgorithm, SignatureParameters, SignerIdentity, XadesForm } from '../types.ts';
import type { ByteSink } from '../xml/index.ts';
import type { DataReference } from './signature-text.ts';
import { ID_PREFIX } from './survey.ts';

export interface PlanRequest extends Pick<SignatureParameters, 'at'> {
  readonly signer: Pick<SignerIdentity, 'fingerprint'>;
  readonly algorithm: SignatureAlgorithm;
  readonly form: XadesForm;
  /** An archive time-stamp will follow. @default false */
  readonly archived?: boolean;
}

export interface SigningPlan {
  readonly id: string;
  readonly references: readonly DataReference[];
  /**
   * Has been told, in order, all bytes the references are over, with the digest of the algorithm: what an archive
   * time-stamp begins with. To be copied, not to be ended; undefined unless `archived` was asked for.
   */
  readonly signed: Hash | undefined;
  readonly frame: Frame;
  /** Writes the canonical form of the objects that hold what is signed: what an archive time-stamp ends with. */
  writeObjects?(sink: ByteSink): void;
}

/**
 * The output: bytes of the input up to `cut`, `lead`, the signature, `trail`, bytes of the input from `resume` on. The
 * signature may hold an object that is made from the input.
 */
export interface Frame {
  /** Offsets in the input. */
  readonly cut: number;
  readonly resume: number;
  readonly lead: string;
  readonly trail: string;
  readonly object?: {
    /** Start tag in ASCII. */
    readonly open: string;
    /** `verbatim`: the input between `cut` and `resume`; `base64`: all of it. */
    readonly content: 'verbatim' | 'base64';
  };
  /** Text in the encoding of the output. */
  encode(text: string): Buffer;
}

/** The identifier asked for, else one that follows from what is signed, by whom and when: the same request, the same text. */
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

/** The digest so far, and the state for what follows when there is more to come: copying it costs. */
export function endOrKeep(
  hash: Hash,
  { archived = false }: Pick<PlanRequest, 'archived'>,
): { readonly digest: Buffer; readonly signed: Hash | undefined } {
  if (!archived) return { digest: hash.digest(), signed: undefined };
  return { digest: hash.copy().digest(), signed: hash };
}

/** The frame of a signature in a file of its own. */
export const ALONE: Pick<Frame, 'lead' | 'trail' | 'encode'> = {
  lead: '<?xml version="1.0" encoding="UTF-8"?>\n',
  trail: '',
  encode: (text) => Buffer.from(text),
};
