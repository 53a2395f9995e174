/** One thread of `openThreads`: runs operations of the engine, and answers refusals as data, since classes don't cross threads. */
import { workerData } from 'node:worker_threads';
import {
  type AugmentFileRequest,
  type BeginSigningRequest,
  CryptoError,
  type CryptoErrorCode,
  type FinishSigningRequest,
  type InputFile,
  MemoryOutput,
  type SignatureFormat,
  type SignFileRequest,
  type VerifyFileRequest,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { createEvidenceSource, type EvidenceSourceOptions } from '../evidence/evidence-source.ts';
import { createHttpTransport, type HttpTransportOptions } from '../evidence/http-transport.ts';
import { createTimestampAuthority, type TimestampAuthorityOptions } from '../evidence/timestamp-authority.ts';
import { augmentFile, beginSigning, finishSigning, signFileAtLevel, verifyFile } from '../files/sign-file.ts';
import { type ValidateFileRequest, validateFile } from '../files/validate-file.ts';
import { deserializeSigner, type SerializedSigner } from '../keys/transfer.ts';

/** Authorities of all requests. Each thread has its own connections and its own cache. */
export interface ThreadServices {
  /** Time-stamp authority, needed from level T on. */
  readonly timestamps?: Omit<TimestampAuthorityOptions, 'transport' | 'random' | 'now' | 'wait'>;
  /** Revocation information, needed from level LT on; validation asks for what a file lacks. */
  readonly evidence?: Omit<EvidenceSourceOptions, 'transport' | 'now' | 'wait'>;
  /** Connections to both. */
  readonly http?: Pick<HttpTransportOptions, 'connections' | 'allowPrivate' | 'issuerHosts'>;
}

/** Output path; undefined: the answer has the bytes. */
interface Place {
  readonly output: string | undefined;
}

/** Requests as a thread takes them: data alone. */
interface Operations {
  sign: Omit<SignFileRequest<InputFile>, 'signer' | 'output'> & Place & { readonly signer: SerializedSigner };
  begin: BeginSigningRequest<InputFile>;
  finish: Omit<FinishSigningRequest<InputFile>, 'output'> & Place & { readonly format: SignatureFormat };
  augment: Omit<AugmentFileRequest<InputFile>, 'output'> & Place;
  verify: VerifyFileRequest<InputFile>;
  validate: ValidateFileRequest<InputFile>;
}

export type Task = {
  [Name in keyof Operations]: { readonly operation: Name; readonly request: Operations[Name] };
}[keyof Operations];

export type Answer =
  | { readonly result: unknown; readonly bytes?: Uint8Array }
  | { readonly code: CryptoErrorCode; readonly message: string };

/** Made by the first request, which is refused when they cannot be: an error while the thread loads has no caller. */
let authorities: SigningServices | undefined;

export async function run(task: Task): Promise<Answer> {
  try {
    authorities ??= servicesOf(buffers(workerData as ThreadServices));
    const output = new MemoryOutput();
    const result = await perform(buffers(task), output, authorities);
    return output.bytes.length === 0 ? { result } : { result, bytes: output.bytes };
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return { code: error.code, message: error.message };
  }
}

async function perform(
  { operation, request }: Task,
  memory: MemoryOutput,
  services: SigningServices,
): Promise<unknown> {
  switch (operation) {
    case 'sign': {
      const signer = deserializeSigner(request.signer);
      return signFileAtLevel({ ...request, output: request.output ?? memory, signer }, services);
    }
    case 'begin':
      return beginSigning(request, services);
    case 'finish':
      return finishSigning({ ...request, output: request.output ?? memory }, services);
    case 'augment':
      return augmentFile({ ...request, output: request.output ?? memory }, services);
    case 'verify':
      return verifyFile(request);
    case 'validate': {
      const { evidence } = services;
      const trust = evidence === undefined ? request.trust : { ...request.trust, online: evidence };
      return validateFile({ ...request, trust });
    }
  }
}

function servicesOf({ timestamps, evidence, http }: ThreadServices): SigningServices {
  const transport = createHttpTransport(http);
  return {
    ...(timestamps !== undefined && { timestamps: createTimestampAuthority({ ...timestamps, transport }) }),
    ...(evidence !== undefined && { evidence: createEvidenceSource({ ...evidence, transport }) }),
  };
}

/** The same data with buffers, which arrive as plain arrays of bytes; their memory is not copied. */
function buffers<Data>(data: Data): Data;
function buffers(data: unknown): unknown {
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (Array.isArray(data)) return data.map((item) => buffers(item));
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype)
    return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, buffers(value)]));
}
