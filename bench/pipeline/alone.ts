/**
 * Runs the service alone with a number of files, for profilers and for counting system calls.
 *
 * Usage: node dist/bench/pipeline/alone.js FOLDER FILES
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PipelineService } from './service.ts';

const [folder = '.', files = '1000'] = process.argv.slice(2);
const workFolder = resolve(mkdtempSync(join(folder, '.bench-')));
try {
  const service = await PipelineService.open(join(workFolder, 'service'));
  await service.prepare('document', Number(files));
  await service.through('document', Number(files));
  await service.close();
} finally {
  rmSync(workFolder, { recursive: true, force: true });
}
