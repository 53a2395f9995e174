/** The short form: services once, then few verbs over paths or bytes. The format is found by the content. */
import { augmentAsic } from '../asic/augment.ts';
import { openSource } from '../core/files.ts';
import { formatOfHeader, HEADER_BYTES } from '../core/header-format.ts';
import { machineTime } from '../core/system-time.ts';
import {
  CryptoError,
  type InputFile,
  MemoryOutput,
  type OutputFile,
  type RemoteSigner,
  type SignAtLevelRequest,
  type SignatureFormat,
  type SignatureLevel,
  type SignedFile,
  type Signer,
} from '../core/types.ts';
import type { Indication, ValidationReport } from '../core/validation-report.ts';
import type { EvidenceSource, TimestampAuthority } from '../evidence/authorities.ts';
import type { TrustSettings } from '../validation/trust.ts';
import { augmentFile, signFileAtLevel } from './sign-file.ts';
import { validateFile } from './validate-file.ts';

export interface SignaturesOptions {
  /** Needed by `sign`. */
  readonly signer?: Signer | RemoteSigner;
  /** Needed from level T on. */
  readonly timestamps?: TimestampAuthority;
  /** Needed from level LT on; `verify` asks it for what a file lacks. */
  readonly evidence?: EvidenceSource;
  /** DER of trust anchors; `certificatesIn` reads them from PEM. @default none, so that nothing is TOTAL-PASSED */
  readonly anchors?: readonly Buffer[];
  /** @default 'soft' */
  readonly revocation?: TrustSettings['revocation'];
  /** Milliseconds since the epoch. @default the clock of the machine */
  readonly now?: () => number;
}

/** Levels that the given services can make. */
type LevelOf<Options extends SignaturesOptions> = Options extends { readonly timestamps: TimestampAuthority }
  ? Options extends { readonly evidence: EvidenceSource }
    ? SignatureLevel
    : 'B' | 'T'
  : 'B';

type Parameters = Omit<SignAtLevelRequest, 'format' | 'input' | 'output' | 'signer' | 'at' | 'level'>;

export interface SignOptions<Level> extends Partial<Parameters> {
  /** @default 'B' */
  readonly level?: Level;
  /** @default that of the content: Pades for PDF, Xades for XML, Cades for any other that is no signature or container */
  readonly format?: SignatureFormat;
}

export interface ExtendOptions<Level> {
  readonly level: Exclude<Level, 'B'>;
  /** The content of a detached signature. */
  readonly content?: InputFile;
  readonly password?: string;
}

/** Path of the output, which must not exist. */
interface To {
  readonly to: string;
}

export interface Verdict {
  /** True: TOTAL-PASSED, for every signature. */
  readonly ok: boolean;
  readonly indication: Indication;
  /** Names of the subjects of the signers' certificates. */
  readonly signers: readonly string[];
  readonly report: ValidationReport;
}

export interface Signatures<Level> {
  /** Signs a file; without `to` it resolves with the bytes. @throws {CryptoError} as `signFileAtLevel` */
  sign(input: InputFile, options: SignOptions<Level> & To): Promise<SignedFile>;
  sign(input: InputFile, options?: SignOptions<Level> & { readonly to?: undefined }): Promise<Buffer>;
  /** @throws {CryptoError} as `validateFile`; an invalid signature is a verdict */
  verify(
    input: InputFile,
    options?: { readonly content?: InputFile; readonly password?: string },
  ): Promise<Verdict>;
  /** Raises the signatures of a file; without `to` it resolves with the bytes. @throws {CryptoError} as `augmentFile` */
  extend(input: InputFile, options: ExtendOptions<Level> & To): Promise<SignedFile>;
  extend(input: InputFile, options: ExtendOptions<Level> & { readonly to?: undefined }): Promise<Buffer>;
}

/**
 * Signs, verifies and extends files. Each call is one of `signFileAtLevel`, `validateFile`, `augmentFile` and `augmentAsic`, which have all
 * options.
 */
export function signatures<const Options extends SignaturesOptions>(
  options: Options,
): Signatures<LevelOf<Options>> {
  const { signer, timestamps, evidence, anchors = [], revocation = 'soft', now = machineTime } = options;
  const services = { ...(timestamps && { timestamps }), ...(evidence && { evidence }) };
  const sign = async (input: InputFile, given: SignOptions<SignatureLevel> & Partial<To> = {}) => {
    const { to, format = formatToSign(input), ...parameters } = given;
    if (signer === undefined)
      throw new CryptoError('request.invalid', '`signer` is missing: give it to `signatures`.');
    return written(to, (output) =>
      signFileAtLevel({ ...parameters, format, input, output, signer, at: now() }, services),
    );
  };
  const extend = async (input: InputFile, given: ExtendOptions<SignatureLevel> & Partial<To>) => {
    const { to, level, ...parameters } = given;
    const format = formatIn(input) ?? 'Cades';
    const request = { ...parameters, input, to: level, at: now() };
    return written(to, (output) =>
      format === 'Asic'
        ? augmentAsic({ ...request, output }, services)
        : augmentFile({ ...request, format, output }, services),
    );
  };
  const verify: Signatures<SignatureLevel>['verify'] = async (path, given = {}) => {
    const found = formatIn(path);
    const format = found === undefined || found === 'Asic' ? 'Cades' : found;
    const trust = { anchors, revocation, ...(evidence && { online: evidence }) };
    const report = await validateFile({ ...given, format, path, trust, at: now() });
    const { indication } = report;
    const signers = report.signatures.flatMap(({ certificate }) => certificate?.subjectName ?? []);
    return { ok: indication === 'TOTAL-PASSED', indication, signers, report };
  };
  return { sign, verify, extend } as object as Signatures<LevelOf<Options>>;
}

function formatIn(input: InputFile): ValidationReport['format'] | undefined {
  const source = openSource(input);
  try {
    return formatOfHeader(source.read(0, Math.min(HEADER_BYTES, source.size)));
  } finally {
    source.close();
  }
}

/** Format for content of each form, or what to do; a signature or a container may be meant in two ways. */
const TO_SIGN: { readonly [format in ValidationReport['format'] | 'none']: SignatureFormat | string } = {
  Pades: 'Pades',
  Xades: 'Xades',
  none: 'Cades',
  Cades: "`addCadesSigner` adds a signer to a CMS signature; `format: 'Cades'` signs it as any file.",
  Asic: "`addAsicSignature` signs a container once more; `format: 'Cades'` signs a ZIP as any file.",
};

function formatToSign(input: InputFile): SignatureFormat {
  const found = TO_SIGN[formatIn(input) ?? 'none'];
  if (found === 'Pades' || found === 'Xades' || found === 'Cades') return found;
  throw new CryptoError('request.invalid', found);
}

/** Returns what a path was signed to, or the bytes. */
async function written(
  to: string | undefined,
  work: (output: OutputFile) => Promise<SignedFile>,
): Promise<SignedFile | Buffer> {
  if (to !== undefined) return work(to);
  const output = new MemoryOutput();
  await work(output);
  return output.bytes;
}
