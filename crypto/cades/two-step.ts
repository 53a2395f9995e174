/** Two-step CAdES signing with an external key: the bytes to sign, and the file from the signature value. */
import { OID } from '../asn1/oids.ts';
import { octets } from '../asn1/read.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import { parseSignedData } from '../cms/parse.ts';
import { openSource, type Source } from '../core/files.ts';
import {
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type DigestName,
  type FinishSigningRequest,
  type InputFile,
  type OutputFile,
  type SignatureLevel,
  type SignedFile,
} from '../core/types.ts';
import { type SigningServices, servicesFor } from '../evidence/authorities.ts';
import {
  begunSigning,
  checkedSignatureValue,
  readState,
  type SignerAndParameters,
  type StoredSigner,
  signerFromStored,
  storedSigner,
} from '../keys/stored-signer.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import { writeEnveloping } from './envelope.ts';
import { orMalformed } from './existing-signature.ts';
import { raiseLevel } from './raise-level.ts';
import { type Armor, type SignatureOutput, withFilesMeanwhile } from './signature-files.ts';

const KIND = 'cades/1';

interface State {
  readonly kind: typeof KIND;
  readonly signer: StoredSigner;
  readonly level: SignatureLevel;
  readonly detached: boolean;
  readonly armor: Armor;
  /** Lower-case hex SHA-256 and length of the input. */
  readonly input: { readonly sha256: string; readonly length: number };
  /** Base64. */
  readonly toBeSigned: string;
}

/**
 * Reads the file and returns the bytes that the key has to sign. Keeps no other state.
 * @throws {CryptoError} `input.unreadable`, `input.empty`, `input.changed`, `key.unsupported`, `request.invalid`
 */
export function beginCades(request: BeginSigningRequest<InputFile>): BegunSigning {
  const { signer, at, level = 'B', cades = {} } = request;
  const { digest } = algorithmOf(signer, request);
  const source = openSource(request.input);
  try {
    if (source.size === 0) throw new CryptoError('input.empty', `${source.path} is empty.`);
    const digests = hashSource(source, [digest]);
    source.assertUnchanged();
    const { contentIdentifier } = cades;
    const signedData = { ...request, contentIdentifier, messageDigest: digests.of(digest), signingTime: at };
    const { toBeSigned, algorithm } = prepareSignedData(signedData);
    const state: State = {
      kind: KIND,
      signer: storedSigner(request),
      level,
      detached: cades.detached ?? false,
      armor: cades.armor ?? 'der',
      input: { sha256: digests.sha256, length: source.size },
      toBeSigned: toBeSigned.toString('base64'),
    };
    return begunSigning(toBeSigned, algorithm, state);
  } finally {
    source.close();
  }
}

/**
 * Writes the signature with this value. The output is synced when this returns (unless `sync` is false) and removed
 * when it throws.
 * @throws {CryptoError} `signature.mismatch` when the value doesn't match; `input.changed` when the file differs from
 * the first step; `request.invalid` for an invalid state, or without a service; those of `signCadesAtLevel`
 */
export async function finishCades(
  request: FinishSigningRequest<InputFile, OutputFile>,
  services: SigningServices = {},
): Promise<SignedFile> {
  const made = completed(request);
  const { state, baseline, parameters } = made;
  const { at } = parameters;
  const levelServices = servicesFor(state.level, services);
  return withFilesMeanwhile(request, state.armor, async (source, output) => {
    const digests = assertSameInput(source, made);
    const request = { to: state.level, at, contentDigest: (name: DigestName) => digests.all.get(name) };
    const der = await raiseLevel(baseline, request, levelServices);
    return write(state, der, { source, digests, output });
  });
}

interface Completed {
  readonly state: State;
  readonly parameters: SignerAndParameters;
  /** SignedData of level B without content. */
  readonly baseline: Buffer;
}

/** Checks the value before any file is read or written. */
function completed({ state: text, value }: FinishSigningRequest<InputFile, OutputFile>): Completed {
  const state = readState<State>(text, KIND, ['signer', 'level', 'detached', 'armor', 'input', 'toBeSigned']);
  const parameters = signerFromStored(state.signer);
  const toBeSigned = Buffer.from(String(state.toBeSigned), 'base64');
  const algorithm = algorithmOf(parameters.signer, parameters);
  const accepted = checkedSignatureValue(parameters.signer, algorithm, toBeSigned, value);
  return { state, parameters, baseline: completeSignedData(parameters, toBeSigned, accepted) };
}

/** Checks that the file is the one of the first step and that the signed attributes are over it. */
function assertSameInput(source: Source, { state, parameters, baseline }: Completed): ContentDigests {
  const { digest } = algorithmOf(parameters.signer, parameters);
  const digests = hashSource(source, [digest]);
  if (source.size !== state.input.length || digests.sha256 !== state.input.sha256) {
    throw new CryptoError('input.changed', `${source.path} is not the file of the first step.`);
  }
  const signed = orMalformed(source, () => {
    const [value] = parseSignedData(baseline).signers[0]?.attributes?.values.get(OID.messageDigest) ?? [];
    return value === undefined ? undefined : octets(value);
  });
  if (signed?.equals(digests.of(digest)) !== true) {
    throw new CryptoError('request.invalid', `The state of the first step is not about ${source.path}.`);
  }
  return digests;
}

function write(
  state: State,
  der: Buffer,
  {
    source,
    digests,
    output,
  }: { readonly source: Source; readonly digests: ContentDigests; readonly output: SignatureOutput },
): { readonly sha256: string } {
  if (state.detached) output.write(der);
  else writeEnveloping(der, source, digests, output);
  return { sha256: digests.sha256 };
}
