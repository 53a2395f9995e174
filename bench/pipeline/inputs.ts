/** Input files: identical documents. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignatureFormat } from '../../crypto/index.ts';
import { noise, samplePdf, sampleXml } from '../samples.ts';

/** One kind of input; the extension decides the format of its signature. */
export interface InputKind {
  readonly format: SignatureFormat;
  readonly extension: string;
  content(): Buffer;
}

/** Business documents of 28 KB, XML of 2 KB, other files of 28 KB. */
export const INPUTS = {
  Pades: { format: 'Pades', extension: 'pdf', content: () => samplePdf() },
  Xades: { format: 'Xades', extension: 'xml', content: () => sampleXml(2_000) },
  Cades: { format: 'Cades', extension: 'bin', content: () => noise(28_000, 'cades') },
} as const satisfies { readonly [format: string]: InputKind };

/** Fills the folder, creating it when it is missing. */
export async function fill(folder: string, name: string, count: number, kind: InputKind): Promise<void> {
  await mkdir(folder, { recursive: true });
  const content = kind.content();
  for (let index = 0; index < count; index += 1)
    await writeFile(join(folder, `${name}-${index}.${kind.extension}`), content);
}
