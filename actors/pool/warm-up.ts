/** Runs the code of small tasks once, so that the first file of a client does not wait for its compilation. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { systemClock } from '@sealwright/runtime/core';
import { type SignatureFormat, signFile, validateFile, verifyFile } from '@sealwright/signatures';
import { SPARE_PREFIX } from '../shared/files/working-folders.ts';
import type { WorkerProfiles } from './worker-profiles.ts';
import type { WorkerSetup } from './worker-setup.ts';

/** The smallest document of each format that can be signed. */
const DOCUMENTS: { readonly [Format in SignatureFormat]: () => string } = {
  Pades: smallestPdf,
  Xades: () => '<document/>',
  Cades: () => 'document',
};

/**
 * Signs, verifies and validates one file of each format with the first key in memory. Never rejects: what cannot be
 * signed now, such as with an expired certificate, is reported when a client asks for it.
 * @param processing folder of the files, which are removed; recovery removes what a crash leaves
 * @returns the formats whose code has run
 */
export async function warmUp(
  { processing, profiles }: Pick<WorkerSetup, 'processing' | 'profiles'>,
  { byName }: Pick<WorkerProfiles, 'byName'>,
): Promise<readonly SignatureFormat[]> {
  // A key on a token signs for clients only.
  const inMemory = profiles.find((profile) => profile.signer?.where === 'memory');
  const signer = inMemory && byName.get(inMemory.name)?.signer;
  if (signer === undefined || !('key' in signer)) return [];
  const folder = join(processing, `${SPARE_PREFIX}warm-${threadId}`);
  const done: SignatureFormat[] = [];
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, document] of Object.entries(DOCUMENTS)) {
      const format = name as SignatureFormat;
      const input = join(folder, `input.${format}`);
      const path = join(folder, `output.${format}`);
      const at = systemClock.now();
      writeFileSync(input, document());
      signFile({ format, input, output: path, signer, at, sync: false });
      verifyFile({ format, path, at });
      await validateFile({ format, path, at, trust: UNTRUSTED });
      done.push(format);
    }
  } catch {
    // Reported by the first task that needs it.
  }
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Recovery removes it at the next start.
  }
  return done;
}

const UNTRUSTED = {
  anchors: [],
  intermediates: [],
  revocation: 'none',
  algorithms: 'as-listed',
} as const;

/** One empty page with a cross-reference table. */
function smallestPdf(): string {
  const bodies = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
  ];
  let text = '%PDF-1.7\n';
  const offsets: number[] = [];
  for (const [index, body] of bodies.entries()) {
    offsets.push(text.length);
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${bodies.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return `${text}xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${entries}${trailer}`;
}
