/** The files that go through: business documents of 28 KB, all alike. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePdf } from '../samples.ts';

/** Makes the folder where it is missing. */
export async function fill(folder: string, name: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const pdf = samplePdf();
  for (let index = 0; index < count; index += 1) await writeFile(join(folder, `${name}-${index}.pdf`), pdf);
}
