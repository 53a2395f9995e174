/** Costs of a file in the pipeline: after the start and later, by format and by key, beside the bare loop. */
import { join } from 'node:path';
import type { LocalSigner } from '@sealwright/signatures';
import { startLocalAuthority } from '../engine/authority.ts';
import type { BenchContext } from '../frame/bench.ts';
import { threadCosts } from '../frame/processes.ts';
import { type BareRun, bareLoop, INPUTS, type InputKind } from './bare.ts';
import { PipelineService } from './service.ts';

const SOURCE = 'docs/performance.md';
/** Files after a start until threads count as warm. */
const COLD_FILES = 4_000;
const JUDGED = 20;

interface PipelineRun {
  /** Processor time of a file, milliseconds. */
  readonly cpuMs: number;
  readonly perSecond: number;
}

interface PipelineCase {
  readonly name: string;
  readonly kind: InputKind;
  readonly key: 'rsa2048' | 'p256';
  readonly signer?: LocalSigner;
}

export async function pipelineCosts(context: BenchContext): Promise<void> {
  const pdf = await caseCosts({ name: 'PDF', kind: INPUTS.Pades, key: 'rsa2048' }, context);
  await caseCosts({ name: 'XML', kind: INPUTS.Xades, key: 'rsa2048' }, context);
  await caseCosts({ name: 'CAdES', kind: INPUTS.Cades, key: 'rsa2048' }, context);
  const authority = await startLocalAuthority();
  const signer = authority.signers.p256;
  authority.close();
  const p256 = await caseCosts({ name: 'PDF, P-256', kind: INPUTS.Pades, key: 'p256', signer }, context);
  const { figure } = context;
  figure('PDF: files/s with P-256 ÷ RSA-2048', p256.perSecond / pdf.perSecond, '×', {
    better: 'more',
    aim: { of: 'value', atLeast: 1.15, source: SOURCE },
  });
  figure('PDF: processor time with RSA-2048 ÷ P-256', pdf.cpuMs / p256.cpuMs, '×', { better: 'more' });
}

async function caseCosts(one: PipelineCase, context: BenchContext): Promise<PipelineRun> {
  const { name, kind, key, signer } = one;
  const files = context.settings.files;
  const cold = Math.min(COLD_FILES, files);
  const workFolder = context.temporaryFolder();
  const bare = [await bareLoop(join(workFolder, 'bare-before'), files, kind, key)];
  const service = await PipelineService.open(join(workFolder, 'service'), {
    kind,
    ...(signer && { signer }),
  });
  try {
    await service.prepare('cold', cold);
    await service.prepare('warm', files);
    const first = await measured(service, `${name}: after the start`, {
      prefix: 'cold',
      files: cold,
      context,
    });
    const before = service.totals();
    const wakeUps = totalWakeUps();
    const warm = await measured(service, `${name}: warm`, { prefix: 'warm', files, context });
    tellCounts(name, files, { service, before, wakeUps: totalWakeUps() - wakeUps, context });
    bare.push(await bareLoop(join(workFolder, 'bare-after'), files, kind, key));
    tellRatios(name, first, { warm, bare, context });
    await service.verify(cold + files, context, { by: 'the engine', most: JUDGED });
    return warm;
  } finally {
    await service.close();
  }
}

async function measured(
  service: PipelineService,
  label: string,
  {
    prefix,
    files,
    context,
  }: { readonly prefix: string; readonly files: number; readonly context: BenchContext },
): Promise<PipelineRun> {
  const before = service.totals();
  const seconds = await service.through(prefix, files, (done) => context.progress(label, done, files));
  const after = service.totals();
  const cpu = [...after.cpu].reduce((sum, [role, ms]) => sum + ms - (before.cpu.get(role) ?? 0), 0);
  return { cpuMs: cpu / files, perSecond: files / seconds };
}

function totalWakeUps(): number {
  return [...threadCosts('self').values()].reduce((sum, { wakeUps }) => sum + wakeUps, 0);
}

function tellCounts(
  name: string,
  files: number,
  {
    service,
    before,
    wakeUps,
    context: { figure },
  }: {
    readonly service: PipelineService;
    readonly before: ReturnType<PipelineService['totals']>;
    readonly wakeUps: number;
    readonly context: BenchContext;
  },
): void {
  const after = service.totals();
  const tasks = (totals: typeof before) =>
    [...totals.tasks.values()].reduce((sum, one) => sum + one.tasks, 0);
  const counts = {
    steps: after.steps - before.steps,
    transactions: after.groups - before.groups,
    'pool tasks': tasks(after) - tasks(before),
    'wake-ups of all threads': wakeUps,
  };
  for (const [what, count] of Object.entries(counts))
    figure(`${name}: ${what} of a file`, count / files, 'count');
  for (const [role, ms] of after.cpu) {
    const value = (ms - (before.cpu.get(role) ?? 0)) / files;
    figure(`${name}: processor time of a file, ${role}`, value, 'ms');
  }
}

function tellRatios(
  name: string,
  first: PipelineRun,
  {
    warm,
    bare,
    context: { figure },
  }: { readonly warm: PipelineRun; readonly bare: readonly BareRun[]; readonly context: BenchContext },
): void {
  const bareCpu = bare.reduce((sum, { cpu }) => sum + cpu.user + cpu.system, 0) / bare.length;
  const bareRate = bare.reduce((sum, { perSecond }) => sum + perSecond, 0) / bare.length;
  figure(`${name}: processor time of a file, warm ÷ bare loop`, warm.cpuMs / bareCpu, '×', {
    aim: { of: 'value', atMost: 1.6, source: SOURCE },
  });
  figure(`${name}: files/s, warm ÷ bare loop`, warm.perSecond / bareRate, '×', {
    better: 'more',
    aim: { of: 'value', atLeast: 0.65, source: SOURCE },
  });
  figure(`${name}: files/s, first files after the start ÷ warm`, first.perSecond / warm.perSecond, '×', {
    better: 'more',
    aim: { of: 'value', atLeast: 0.9, source: SOURCE },
  });
  figure(`${name}: processor time, warm ÷ first files after the start`, warm.cpuMs / first.cpuMs, '×', {
    better: 'more',
  });
  figure(`${name}: files/s, warm`, warm.perSecond, '/s');
  figure(`${name}: processor time of the bare loop`, bareCpu, 'ms');
}
