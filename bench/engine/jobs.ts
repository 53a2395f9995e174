/** Runs one case of the benchmark, and refuses figures of signatures that are no good. */
import { existsSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envelopBytes } from '../../crypto/cades/sign.ts';
import { signFile, signFileAtLevel } from '../../crypto/engine.ts';
import { signPdfBytes } from '../../crypto/pades/sign.ts';
import type { SignFileRequest } from '../../crypto/types.ts';
import { validateFile } from '../../crypto/validation/validate.ts';
import { signXml } from '../../crypto/xades/sign.ts';
import { type Figures, measure, measureWaiting } from '../measure.ts';
import type { LocalAuthority } from './authority.ts';
import { type BenchCase, contentOf, nameOf, type Place } from './cases.ts';

/** Signatures under way at once where an authority is waited for. */
const LANES = 8;

export interface Bench {
  /** Undefined when this machine lacks the place. */
  run(one: BenchCase): Promise<Figures | undefined>;
  close(): void;
}

/** @param folder on the disk that is measured @param seconds each case is measured for */
export function startBench(authority: LocalAuthority, seconds: number, folder = tmpdir()): Bench {
  const folders = new Map<Place, string>([['disk', mkdtempSync(join(folder, 'sealwright-bench-'))]]);
  if (existsSync('/dev/shm')) folders.set('shm', mkdtempSync('/dev/shm/sealwright-bench-'));
  let files = 0;

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

  const mustPass = async (one: BenchCase, { input, output }: SignFileRequest): Promise<void> => {
    const content = one.detached ? { content: input } : {};
    const { format } = one;
    // What was time-stamped just now must be in the past.
    const at = Date.now() + 60_000;
    const report = await validateFile({ format, path: output, at, trust: authority.trust, ...content });
    if (report.indication === 'TOTAL-PASSED') return;
    throw new Error(
      `${nameOf(one)}: ${JSON.stringify([report.results.errors, report.signatures[0]?.results.errors])}`,
    );
  };

  const signing = async (one: BenchCase, request: SignFileRequest): Promise<Figures> => {
    const { output } = request;
    if (one.level === 'B') {
      const work = (): void => void signFile(request);
      const figures = measure(seconds, work, () => unlinkSync(output));
      work();
      return figures;
    }
    const { services } = authority;
    const figures = await measureWaiting(seconds, LANES, async (lane) => {
      const own = { ...request, output: `${output}-${lane}` };
      await signFileAtLevel(own, services);
      unlinkSync(own.output);
    });
    await signFileAtLevel(request, services);
    return figures;
  };

  const validating = async (one: BenchCase, request: SignFileRequest): Promise<Figures> => {
    await signFileAtLevel(request, authority.services);
    return measureWaiting(seconds, 1, () => mustPass(one, request));
  };

  return {
    async run(one) {
      if (one.place === 'memory') return inMemory(one, authority, seconds);
      const path = folders.get(one.place);
      if (path === undefined) return undefined;
      const request = requestFor(one, path);
      const figures = await (one.work === 'sign' ? signing : validating)(one, request);
      await mustPass(one, request);
      unlinkSync(request.input);
      unlinkSync(request.output);
      return figures;
    },
    close() {
      for (const path of folders.values()) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Parsing, hashing, CMS or XML, and the operation of the private key: no files. */
function inMemory(one: BenchCase, authority: LocalAuthority, seconds: number): Figures {
  const input = contentOf(one);
  const options = { signer: authority.signers[one.key], at: Date.now(), digest: 'sha256' } as const;
  const sign = {
    Pades: () => signPdfBytes(input, options),
    Cades: () => envelopBytes(input, options),
    Xades: () => signXml(input, options),
  }[one.format];
  return measure(seconds, () => void sign());
}
