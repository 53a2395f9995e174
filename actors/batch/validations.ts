/** Validates uploaded files: writes them under a temporary name, validates them in the pool and removes them. */

import { type Clock, Retryable } from '@sealwright/runtime';
import { Refusal } from '../../machines/refusals.ts';
import type { SigningPool } from '../pool/pool.ts';
import { uploadName } from '../shared/storage-layout.ts';
import type { FileValidation, ValidatedFile } from './api/service.ts';
import type { Upload, Uploads } from './jobs/uploads.ts';

export class FileValidations implements FileValidation {
  constructor(
    private readonly uploads: Pick<Uploads, 'open'>,
    private readonly pool: Pick<SigningPool, 'run'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  open(fileName: string): Promise<Upload> {
    return this.uploads.open(fileName, false);
  }

  async validate(
    upload: Upload,
    { fileName, files, format, password }: Parameters<FileValidation['validate']>[1],
  ): Promise<ValidatedFile> {
    const { pool, clock } = this;
    const answer = await pool.run({
      task: 'validate',
      documentId: 'validation',
      path: uploadName(upload.path),
      fileName,
      ...(files.length > 1 && { files }),
      format: format ?? null,
      ...(password !== undefined && { password }),
      at: clock.now(),
    });
    if (answer.ok) return answer.result;
    if (answer.code.startsWith('pool.')) throw new Retryable('service.busy', answer.message);
    throw new Refusal('upload.format-unsupported', answer.message, { errors: { file: [answer.message] } });
  }
}
