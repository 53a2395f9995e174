import { type Clock, Retryable } from '@sealwright/runtime';
import type { ValidationReport } from '@sealwright/signatures';
import { Refusal } from '../../machines/refusals.ts';
import type { SigningPool } from '../pool/pool.ts';
import { uploadName } from '../shared/files/storage-layout.ts';
import type { Upload, UploadStorage } from './uploads/upload-storage.ts';

/** Validates uploaded files: writes them under a temporary name, validates them in the pool and removes them. */
export class FileValidations {
  constructor(
    private readonly uploads: Pick<UploadStorage, 'open'>,
    private readonly pool: Pick<SigningPool, 'run'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Refusals: `job.path-too-long`. */
  open(fileName: string): Promise<Upload> {
    return this.uploads.open(fileName, false);
  }

  /**
   * Resolves with the report, and its XML form of ETSI TS 119 102-2. The caller aborts the upload afterwards. Refusals:
   * `upload.format-unsupported` for a file that cannot be read, `service.busy`.
   */
  async validate(
    upload: Upload,
    {
      fileName,
      files,
      format,
      password,
      certificates,
    }: {
      readonly fileName: string;
      /** Files in the upload: the signed file, then the content of a detached signature. */
      readonly files: readonly { readonly name: string; readonly length: number }[];
      readonly format: ValidationReport['format'] | undefined;
      /** Opens the file when it is an encrypted PDF; never stored. */
      readonly password?: string | undefined;
      /** PEM of certificates that the file may lack. */
      readonly certificates?: string | undefined;
    },
  ): Promise<{ readonly report: ValidationReport; readonly xml: string }> {
    const { pool, clock } = this;
    const answer = await pool.run({
      task: 'validate',
      documentId: 'validation',
      path: uploadName(upload.path),
      fileName,
      ...(files.length > 1 && { files }),
      format: format ?? null,
      ...(password !== undefined && { password }),
      ...(certificates !== undefined && { certificates }),
      at: clock.now(),
    });
    if (answer.ok) return answer.result;
    if (answer.code.startsWith('pool.')) throw new Retryable('service.busy', answer.message);
    throw new Refusal('upload.format-unsupported', answer.message, { errors: { file: [answer.message] } });
  }
}
