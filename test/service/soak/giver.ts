/** Gives files: into folders, and as uploads that are sent again until they are answered. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { noise, samplePdf } from '../../../bench/samples.ts';
import { sha256 } from '../signing/evidence.ts';
import type { Dice } from './dice.ts';
import { FOLDER_NAMES, FOLDERS, type FolderName, REMOTE, type SoakService } from './soak-service.ts';

export interface Dropped {
  readonly path: string;
  /** Digest of what lies there for good. */
  readonly digest: string;
  /** False: it fails whenever it is tried. */
  readonly good: boolean;
  /** Digest of what lay there for a moment before. */
  readonly before: string | undefined;
}

export interface SoakInput {
  readonly dropped: Dropped[];
  /** File name → job id, of each upload that was answered. */
  readonly uploaded: Map<string, { readonly jobId: string; readonly digest: string; readonly good: boolean }>;
}

/** In a hundred. */
const UPLOADS = 35;
const BROKEN = 2;
const LARGE = 1;
const REWRITTEN = 1;
/** A planned stop may drain for 30 seconds before the service starts anew, on a busy machine. */
const ANSWER_WITHIN_MS = 180_000;
/** Of the uploads of PDFs. */
const REMOTE_UPLOADS = 15;

/** Gives one file; resolves when it lies there or its upload was answered. */
export async function giveOne(
  subject: SoakService,
  given: SoakInput,
  chance: Dice,
  name: string,
): Promise<void> {
  const folder = chance.pick(FOLDER_NAMES) ?? 'cades';
  // Only these two formats can be broken: CMS takes any bytes.
  const broken = (folder === 'pades' || folder === 'xades') && chance.percent(BROKEN);
  const large = chance.percent(LARGE);
  const content = contentOf(
    folder,
    name,
    broken,
    large ? 100_000 + chance.roll(900_000) : 300 + chance.roll(4_000),
  );
  if (chance.percent(UPLOADS)) {
    const profile = folder === 'pades' && !broken && chance.percent(REMOTE_UPLOADS) ? REMOTE : folder;
    await upload(subject, given, { fileName: `${name}${FOLDERS[folder]}`, profile, content, good: !broken });
    return;
  }
  const below = folder === 'cades' ? ['', 'a', 'a/b', 'c'][chance.roll(4)] : '';
  const path = join(subject.root, 'in', folder, below ?? '', `${name}${FOLDERS[folder]}`);
  const before = chance.percent(REWRITTEN) ? contentOf(folder, `${name} at first`, false, 2_000) : undefined;
  if (before !== undefined) {
    await put(path, before);
    // Long enough for the watcher to take it, sometimes.
    await systemClock.sleep(chance.roll(400));
  }
  await put(path, content);
  given.dropped.push({ path, digest: sha256(content), good: !broken, before: before && sha256(before) });
}

/** Whole at once, as a careful writer does it. */
async function put(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const hidden = join(dirname(path), `.${sha256(path).slice(0, 16)}`);
  await writeFile(hidden, content);
  await rename(hidden, path);
}

/** The key makes sending it again safe, whatever became of the answer. */
async function upload(
  subject: SoakService,
  given: SoakInput,
  {
    fileName,
    profile,
    content,
    good,
  }: {
    readonly fileName: string;
    readonly profile: string;
    readonly content: Buffer;
    readonly good: boolean;
  },
): Promise<void> {
  const began = systemClock.elapsed();
  const answers = new Map<string, number>();
  while (systemClock.elapsed() - began < ANSWER_WITHIN_MS) {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(content)]), fileName);
    const response = await subject.service
      .fetch(`/api/files?profile=${profile}`, {
        method: 'POST',
        body: form,
        headers: { 'Idempotency-Key': fileName },
        signal: AbortSignal.timeout(60_000),
      })
      .catch(() => undefined);
    const answered = String(response?.status ?? 'no connection');
    answers.set(answered, (answers.get(answered) ?? 0) + 1);
    if (response?.status === 202) {
      const answer = (await response.json().catch(() => undefined)) as { jobId: string } | undefined;
      if (answer) {
        given.uploaded.set(fileName, { jobId: answer.jobId, digest: sha256(content), good });
        return;
      }
    } else if (response !== undefined && response.status !== 503)
      throw new Error(`the upload of ${fileName} was answered ${response.status}: ${await response.text()}`);
    // It is being started anew.
    await systemClock.sleep(100);
  }
  const seen = [...answers].map(([answer, count]) => `${count} × ${answer}`).join(', ');
  throw new Error(`the upload of ${fileName} was never answered 202: ${seen}`);
}

function contentOf(folder: FolderName, name: string, broken: boolean, size: number): Buffer {
  if (broken)
    return Buffer.from(folder === 'pades' ? `%PDF-1.7 and no more of ${name}` : `<order id="${name}"><line>`);
  switch (folder) {
    case 'pades':
      return samplePdf(size + 1_000, name);
    case 'xades':
      return Buffer.from(
        `<order id="${name}"><line>${noise(size, name).toString('hex').slice(0, size)}</line></order>`,
      );
    default:
      return noise(size, name);
  }
}
