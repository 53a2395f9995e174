/**
 * XAdES signatures in two steps: the first returns the data to sign, the second writes the file with the external
 * value.
 */
import { createHash } from 'node:crypto';
import { openSource, type Source } from '../core/files.ts';
import {
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type FinishSigningRequest,
  type InputFile,
  type OutputFile,
  type SignatureLevel,
  type SignedFile,
  type XadesFormat,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import {
  begunSigning,
  checkedSignatureValue,
  readState,
  type StoredSigner,
  signerFromStored,
  storedSigner,
} from '../keys/stored-signer.ts';
import { encodedValue, planSignature, writeAtLevel } from './sign.ts';

interface XadesState {
  readonly kind: 'xades/1';
  readonly signer: StoredSigner;
  readonly form: XadesFormat;
  readonly level: SignatureLevel;
  /** SHA-256 of the input, lower-case hex. */
  readonly input: string;
  readonly toBeSigned: string;
}

/**
 * First step. Writes no file and calls no service; the caller keeps only the returned state.
 * @throws {CryptoError} those of `signXades` except the key's and the output's
 */
export function beginXades(request: BeginSigningRequest<InputFile>): BegunSigning {
  const source = openSource(request.input);
  try {
    const { text, algorithm } = planSignature(source, request.signer, request);
    const toBeSigned = Buffer.from(text.signedInfo);
    const state: XadesState = {
      kind: 'xades/1',
      signer: storedSigner(request),
      form: request.xades ?? {},
      level: request.level ?? 'B',
      input: sha256Of(source),
      toBeSigned: createHash('sha256').update(toBeSigned).digest('hex'),
    };
    source.assertUnchanged();
    return begunSigning(toBeSigned, algorithm, state);
  } finally {
    source.close();
  }
}

/**
 * Second step: recomputes everything but the value from input and state.
 * @param services for the levels above B
 * @throws {CryptoError} `input.changed` when the input is not that of the first step, `signature.mismatch` when the
 *   value does not fit, `request.invalid` for a state of another kind; those of `signXadesAtLevel`
 */
export async function finishXades(
  request: FinishSigningRequest<InputFile, OutputFile>,
  services: SigningServices = {},
): Promise<SignedFile> {
  const state = readState<XadesState>(request.state, 'xades/1');
  const { signer, ...parameters } = signerFromStored(state.signer);
  const source = openSource(request.input);
  try {
    if (sha256Of(source) !== state.input) {
      throw new CryptoError('input.changed', `${source.path} is not what the first step was given.`);
    }
    const planned = planSignature(source, signer, { ...parameters, xades: state.form, level: state.level });
    const toBeSigned = Buffer.from(planned.text.signedInfo);
    if (createHash('sha256').update(toBeSigned).digest('hex') !== state.toBeSigned) {
      throw new CryptoError('request.invalid', 'The first step was done by another version of this program.');
    }
    const made = checkedSignatureValue(signer, planned.algorithm, toBeSigned, request.value);
    const value = encodedValue(signer, made);
    const { output, sync } = request;
    const level = { ...parameters, signer, level: state.level, output, ...(sync !== undefined && { sync }) };
    return await writeAtLevel(source, planned, { value, request: level, services });
  } finally {
    source.close();
  }
}

function sha256Of(source: Source): string {
  const hash = createHash('sha256');
  for (const chunk of source.chunks()) hash.update(chunk);
  return hash.digest('hex');
}
