/** Threads of their own for signing and validation: the caller's thread only waits. Needs the optional peer piscina. */
/// <reference types="node" preserve="true" />
import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import { assertRequest } from './core/request-checks.ts';
import { machineAfter } from './core/system-time.ts';
import {
  type AugmentFileRequest,
  type BegunSigning,
  CryptoError,
  type InputFile,
  MemoryOutput,
  type OutputFile,
  type RemoteSigner,
  type SignedFile,
  type SignFileRequest,
  type VerificationReport,
  type VerifyFileRequest,
} from './core/types.ts';
import type { ValidationReport } from './core/validation-report.ts';
import type { ValidateFileRequest } from './files/validate-file.ts';
import { type LocalSigner, type SerializedSigner, serializeSigner } from './keys/transfer.ts';
import type { Answer, Task, ThreadServices } from './threads/worker.ts';
import type { TrustSettings } from './validation/trust.ts';

export type { ThreadServices } from './threads/worker.ts';

export interface ThreadsOptions extends ThreadServices {
  /** 1 to 64. @default the processors of the machine */
  readonly threads?: number;
  /** Requests that wait for a thread, 1 to 100,000; more are refused. @default 1000 */
  readonly maxWaiting?: number;
  /** Time limit of a request with its waiting, milliseconds, 1 to 3,600,000; then its thread is replaced. @default 120,000 */
  readonly timeoutMs?: number;
}

/**
 * `threads.full`: as many requests wait as may. `threads.timeout`: the request took too long. `threads.closed`: after
 * `close`. `threads.lost`: its thread ended, or met an error that is none of its file. After the last three a file at the
 * output may be incomplete.
 */
export class ThreadsError extends Error {
  readonly code: 'threads.full' | 'threads.timeout' | 'threads.closed' | 'threads.lost';
  constructor(code: ThreadsError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ThreadsError';
    this.code = code;
  }
}

/** Operations as the functions of the same names, in threads; authorities are those of `openThreads`. */
export interface SignatureThreads {
  /**
   * As `signFileAtLevel`. A remote key signs in the caller's thread.
   * @throws {CryptoError} {@link ThreadsError}
   */
  signFile(
    request: Omit<SignFileRequest<InputFile, OutputFile>, 'signer'> & {
      readonly signer: LocalSigner | RemoteSigner;
    },
  ): Promise<SignedFile>;
  augmentFile(request: AugmentFileRequest<InputFile, OutputFile>): Promise<SignedFile>;
  verifyFile(request: VerifyFileRequest<InputFile>): Promise<VerificationReport>;
  /** As `validateFile`; `trust` has no `online`, which is the option `evidence`. */
  validateFile(
    request: Omit<ValidateFileRequest<InputFile>, 'trust'> & {
      readonly trust: Omit<TrustSettings, 'online'>;
    },
  ): Promise<ValidationReport>;
  /** Ends the threads; requests that still run are refused. */
  close(): Promise<void>;
}

/** Bounds of the options. */
const MAX = { threads: 64, maxWaiting: 100_000, timeoutMs: 3_600_000 };

/** @throws {RangeError} for an option out of its bounds */
function limitsOf(options: ThreadsOptions): typeof MAX {
  const limits = {
    threads: options.threads ?? Math.min(availableParallelism(), MAX.threads),
    maxWaiting: options.maxWaiting ?? 1000,
    timeoutMs: options.timeoutMs ?? 120_000,
  };
  for (const name of ['threads', 'maxWaiting', 'timeoutMs'] as const) {
    const value = limits[name];
    if (Number.isInteger(value) && value >= 1 && value <= MAX[name]) continue;
    throw new RangeError(`\`${name}\` is ${value}, not a whole number from 1 to ${MAX[name]}.`);
  }
  return limits;
}

/** @throws {Error} without piscina */
async function openPool(options: ThreadsOptions, threads: number): Promise<Piscina<Task, Answer>> {
  const { timestamps, evidence, http } = options;
  const library = await import('piscina').catch((cause: unknown) => {
    throw new Error('Threads need the package piscina: npm install piscina', { cause });
  });
  const services: ThreadServices = {
    ...(timestamps !== undefined && { timestamps }),
    ...(evidence !== undefined && { evidence }),
    ...(http !== undefined && { http }),
  };
  const pool: Piscina<Task, Answer> = new library.Piscina({
    filename: new URL('./threads/worker.js', import.meta.url).href,
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: 60_000,
    workerData: services,
    name: 'run',
  });
  // A thread that fails between two requests is replaced. Without a listener its error would end the process.
  pool.on('error', () => {});
  return pool;
}

/**
 * Starts threads, at first one, more with the load.
 * @throws {RangeError} for an option out of its bounds; {Error} without piscina
 */
export async function openThreads(options: ThreadsOptions = {}): Promise<SignatureThreads> {
  const limits = limitsOf(options);
  const pool = await openPool(options, limits.threads);
  let isClosed = false;
  /** Requests that run or wait. */
  let open = 0;

  const failureOf = (cause: unknown, isLate: boolean): ThreadsError => {
    const message = cause instanceof Error ? cause.message : String(cause);
    const [code, text] = isClosed
      ? (['threads.closed', 'The threads were closed meanwhile.'] as const)
      : isLate
        ? (['threads.timeout', `The request took longer than ${limits.timeoutMs} ms.`] as const)
        : (['threads.lost', `The thread failed: ${message}`] as const);
    return new ThreadsError(code, text, { cause });
  };

  /** Runs one operation; an output in memory is filled here. */
  const perform = async <Result>(task: Task, memory?: OutputFile): Promise<Result> => {
    if (isClosed) throw new ThreadsError('threads.closed', 'The threads are closed.');
    if (open >= limits.threads + limits.maxWaiting)
      throw new ThreadsError(
        'threads.full',
        `${limits.maxWaiting} requests wait for a thread; try again later.`,
      );
    open += 1;
    const controller = new AbortController();
    const { signal } = controller;
    const cancel = machineAfter(limits.timeoutMs, () => controller.abort());
    const answer = await pool
      .run(task, { signal })
      .catch((cause: unknown) => {
        throw failureOf(cause, signal.aborted);
      })
      .finally(() => {
        open -= 1;
        cancel();
      });
    if ('code' in answer) throw new CryptoError(answer.code, answer.message);
    if (memory instanceof MemoryOutput && answer.bytes !== undefined) memory.bytes = bufferOf(answer.bytes);
    return answer.result as Result;
  };

  const serialized = new WeakMap<LocalSigner, SerializedSigner>();
  const transferable = (signer: LocalSigner): SerializedSigner => {
    const known = serialized.get(signer) ?? serializeSigner(signer);
    serialized.set(signer, known);
    return known;
  };

  return {
    async signFile(request) {
      assertRequest(undefined, request, ['at', 'signer']);
      const { signer, output, ...rest } = request;
      if (!('sign' in signer)) {
        const task = { ...rest, output: pathOf(output), signer: transferable(signer) };
        return perform({ operation: 'sign', request: task }, output);
      }
      // A signer may have members that no thread takes, or inherit these.
      const { certificate, chain, keyType, keyBits, fingerprint } = signer;
      const identity = { certificate, chain, keyType, keyBits, fingerprint };
      const begun = await perform<BegunSigning>({
        operation: 'begin',
        request: { ...rest, signer: identity },
      });
      const { state, algorithm } = begun;
      const data = { algorithm, toBeSigned: bufferOf(begun.toBeSigned), hash: bufferOf(begun.hash) };
      const value = Buffer.from(await signer.sign(data));
      const task = { ...rest, output: pathOf(output), state, value };
      return perform({ operation: 'finish', request: task }, output);
    },
    augmentFile: ({ output, ...rest }) =>
      perform({ operation: 'augment', request: { ...rest, output: pathOf(output) } }, output),
    verifyFile: (request) => perform({ operation: 'verify', request }),
    validateFile: (request) => perform({ operation: 'validate', request }),
    async close() {
      isClosed = true;
      await pool.destroy();
    },
  };
}

/** An output in memory is collected in the thread: nothing is sent for it. */
function pathOf(output: OutputFile): string | undefined {
  return typeof output === 'string' ? output : undefined;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
