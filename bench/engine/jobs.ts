/** Runs one benchmark case and refuses figures of invalid signatures. */
import { copyFileSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  MemoryOutput,
  type SignFileRequest,
  signFile,
  signFileAtLevel,
  validateFile,
} from '@sealwright/signatures';
import { envelopBytes } from '#crypto/cades/sign.js';
import { verifyIndependently } from '../../independent/index.ts';
import { type BenchContext, Unverified } from '../frame/bench.ts';
import { verifiedByOtherTool } from '../frame/judges.ts';
import { measure, measureWaiting, type Rate, type Slices } from '../frame/rate.ts';
import type { LocalAuthority } from './authority.ts';
import { type BenchCase, contentOf, nameOf, type Place } from './cases.ts';

/** Concurrent signatures when they wait for an authority. */
const CONCURRENCY = 8;
/** Limit of output bytes kept until verification, and of bytes that a signature adds to its content. */
const CACHE_SIZE = 64 << 20;
const ADDED = 32 << 10;

/** Runs a case; undefined when this machine lacks the folder. @throws {Unverified} */
export type RunCase = (one: BenchCase) => Promise<Rate | undefined>;

export interface Jobs {
  readonly authority: LocalAuthority;
  readonly context: BenchContext;
  readonly folders: ReadonlyMap<Place, string>;
}

export function caseRunner({ authority, context, folders }: Jobs): RunCase {
  const { seconds } = context.settings;
  let files = 0;
  let { damage } = context.settings;

  const requestFor = (one: BenchCase, path: string): SignFileRequest => {
    const input = join(path, `${++files}.${one.format === 'Pades' ? 'pdf' : 'xml'}`);
    writeFileSync(input, contentOf(one));
    return {
      format: one.format,
      input,
      output: `${input}.signed`,
      signer: authority.signers[one.key],
      at: Date.now(),
      level: one.level,
      ...(one.detached ? { cades: { detached: true } } : {}),
    };
  };

  const mustPass = async (one: BenchCase, { input, output }: Outcome): Promise<void> => {
    const content = one.detached ? { content: input } : {};
    const { format } = one;
    // New time-stamps must be in the past.
    const at = Date.now() + 60_000;
    const report = await validateFile({ format, path: output, at, trust: authority.trust, ...content });
    if (report.indication === 'TOTAL-PASSED') return;
    const [first] = report.signatures;
    throw new Unverified(
      `${nameOf(one)}: ${report.indication} ${JSON.stringify([report.results.errors, first?.results.errors])}`,
    );
  };

  const mustAgree = async (one: BenchCase, { output }: Outcome): Promise<void> => {
    const bytes = readFileSync(output);
    const { signatures } = await verifyIndependently({ format: one.format, bytes, at: Date.now() });
    if (signatures.length === 1 && signatures[0]?.verdict === 'valid') return;
    throw new Unverified(`${nameOf(one)}: ${JSON.stringify(signatures)}`);
  };

  /** Verifies and removes outputs `${output}-0`, …; the last one is also verified by independent programs. */
  const checked = (one: BenchCase, { input, output }: Outcome): Outputs => {
    let made = 0;
    let shown = false;
    const verify = async (): Promise<void> => {
      const paths = Array.from({ length: made }, (_, n) => `${output}-${n}`);
      if (damage && made > 0) spoil(`${output}-0`);
      damage &&= made === 0;
      for (const path of paths) await mustPass(one, { input, output: path });
      context.verified('the engine', paths.length);
      const sample = paths.at(-1);
      if (!shown && sample !== undefined) await show(one, sample, input);
      shown ||= sample !== undefined;
      for (const path of paths) unlinkSync(path);
      made = 0;
    };
    return {
      next: () => `${output}-${made++}`,
      slices: { calls: Math.ceil(CACHE_SIZE / (contentOf(one).length + ADDED)), settle: verify },
    };
  };

  const show = async (one: BenchCase, path: string, input: string): Promise<void> => {
    const output = { name: nameOf(one), format: one.format, path, ...(one.detached && { content: input }) };
    const by = await verifiedByOtherTool(output, authority.trusted);
    if (by !== undefined) context.verified(by, 1);
  };

  const signing = (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const { next, slices } = checked(one, request);
    if (one.level === 'B')
      return measure(seconds, () => void signFile({ ...request, output: next() }), slices);
    const sign = async () => void (await signFileAtLevel({ ...request, output: next() }, authority.services));
    return measureWaiting(seconds, CONCURRENCY, sign, slices);
  };

  const validating = async (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const { next, slices } = checked(one, request);
    const output = next();
    await signFileAtLevel({ ...request, output }, authority.services);
    copyFileSync(output, request.output);
    await slices.settle();
    const judge = one.work === 'independent' ? mustAgree : mustPass;
    const rate = await measureWaiting(seconds, 1, () => judge(one, request));
    unlinkSync(request.output);
    return rate;
  };

  /** Measures parsing, hashing, CMS or XML, and the private key operation, without files. */
  const inMemory = (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const content = contentOf(one);
    const { next, slices } = checked(one, request);
    const options = { signer: request.signer, at: request.at, digest: 'sha256' } as const;
    // Preallocates memory for kept outputs, so that calls do not allocate it.
    const kept = Buffer.alloc(CACHE_SIZE + contentOf(one).length + ADDED, 1);
    const ends: number[] = [];
    const signed = (): Buffer[] => {
      const output = new MemoryOutput();
      signFile({ ...options, format: one.format, input: content, output });
      return [output.bytes];
    };
    const sign = {
      Pades: signed,
      Cades: () => {
        const { head, tail } = envelopBytes(content, options);
        return [head, content, tail];
      },
      Xades: signed,
    }[one.format];
    const keep = (): void => {
      let at = ends.at(-1) ?? 0;
      for (const part of sign()) at += part.copy(kept, at);
      ends.push(at);
    };
    const settle = async (): Promise<void> => {
      for (const [n, end] of ends.entries()) writeFileSync(next(), kept.subarray(ends[n - 1] ?? 0, end));
      ends.length = 0;
      await slices.settle();
    };
    return measure(seconds, keep, { ...slices, settle });
  };

  return async (one) => {
    const path = folders.get(one.place === 'memory' ? 'shm' : one.place);
    if (path === undefined) return undefined;
    const request = requestFor(one, path);
    const work = one.place === 'memory' ? inMemory : one.work === 'sign' ? signing : validating;
    const rate = await work(one, request);
    unlinkSync(request.input);
    return rate;
  };
}

interface Outcome {
  readonly input: string;
  readonly output: string;
}

interface Outputs {
  /** Returns the path of the next output. */
  readonly next: () => string;
  readonly slices: Slices;
}

/** Flips one bit in the middle, in the content or the signature. */
function spoil(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}
