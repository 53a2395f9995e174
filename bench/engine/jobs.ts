/** Runs one case of the benchmark, and refuses figures of signatures that are no good. */
import { copyFileSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { envelopBytes } from '../../crypto/cades/sign.ts';
import { signFile, signFileAtLevel } from '../../crypto/engine.ts';
import { signPdfBytes } from '../../crypto/pades/sign.ts';
import type { SignFileRequest } from '../../crypto/types.ts';
import { validateFile } from '../../crypto/validation/validate.ts';
import { signXml } from '../../crypto/xades/sign.ts';
import { type BenchContext, Unverified } from '../frame/bench.ts';
import { judgedByOthers } from '../frame/judges.ts';
import { measure, measureWaiting, type Rate, type Slices } from '../frame/rate.ts';
import type { LocalAuthority } from './authority.ts';
import { type BenchCase, contentOf, nameOf, type Place } from './cases.ts';

/** Signatures under way at once where an authority is waited for. */
const LANES = 8;
/** Bytes of outputs that are kept until they are verified, and at most so many more than its content each is. */
const KEPT = 64 << 20;
const ADDED = 32 << 10;

/** Undefined when this machine lacks the place. @throws {Unverified} */
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
    // What was time-stamped just now must be in the past.
    const at = Date.now() + 60_000;
    const report = await validateFile({ format, path: output, at, trust: authority.trust, ...content });
    if (report.indication === 'TOTAL-PASSED') return;
    const [first] = report.signatures;
    throw new Unverified(
      `${nameOf(one)}: ${report.indication} ${JSON.stringify([report.results.errors, first?.results.errors])}`,
    );
  };

  /** Outputs `${output}-0`, … are verified and removed; the last is shown to others too. */
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
      slices: { calls: Math.ceil(KEPT / (contentOf(one).length + ADDED)), settle: verify },
    };
  };

  const show = async (one: BenchCase, path: string, input: string): Promise<void> => {
    const output = { name: nameOf(one), format: one.format, path, ...(one.detached && { content: input }) };
    const by = await judgedByOthers(output, authority.trusted);
    if (by !== undefined) context.verified(by, 1);
  };

  const signing = (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const { next, slices } = checked(one, request);
    if (one.level === 'B')
      return measure(seconds, () => void signFile({ ...request, output: next() }), slices);
    const sign = async () => void (await signFileAtLevel({ ...request, output: next() }, authority.services));
    return measureWaiting(seconds, LANES, sign, slices);
  };

  const validating = async (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const { next, slices } = checked(one, request);
    const output = next();
    await signFileAtLevel({ ...request, output }, authority.services);
    copyFileSync(output, request.output);
    await slices.settle();
    const rate = await measureWaiting(seconds, 1, () => mustPass(one, request));
    unlinkSync(request.output);
    return rate;
  };

  /** Parsing, hashing, CMS or XML, and the operation of the private key: no files. */
  const inMemory = (one: BenchCase, request: SignFileRequest): Promise<Rate> => {
    const content = contentOf(one);
    const { next, slices } = checked(one, request);
    const options = { signer: request.signer, at: request.at, digest: 'sha256' } as const;
    // Buffers that are kept would have to be found new by each call; these bytes are there already.
    const kept = Buffer.alloc(KEPT + contentOf(one).length + ADDED, 1);
    const ends: number[] = [];
    const sign = {
      Pades: () => [signPdfBytes(content, options)],
      Cades: () => {
        const { head, tail } = envelopBytes(content, options);
        return [head, content, tail];
      },
      Xades: () => {
        const { before, inserted, content: inner, closing, after } = signXml(content, options);
        return [before, inserted, inner, closing, after];
      },
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
  /** Path of the next one. */
  readonly next: () => string;
  readonly slices: Slices;
}

/** One bit in the middle, where content or signature is. */
function spoil(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}
