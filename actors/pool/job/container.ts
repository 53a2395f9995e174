/** Signs the files of a job into an ASiC container. Source: docs/batch-values.md §6.1, `Container`. */
import { statSync } from 'node:fs';
import {
  type SignAtLevelRequest,
  type SignedFile,
  type SigningServices,
  signAsic,
} from '@sealwright/signatures';
import { fileDigest } from '../../shared/files/digest.ts';
import { TaskFailure } from '../task-failure.ts';
import type { SignTask } from '../tasks.ts';

/** @throws {CryptoError} those of `signAsic`; {TaskFailure} `request.invalid` for the format Pades */
export async function signIntoContainer(
  { fileName, files }: Pick<SignTask, 'fileName' | 'files'>,
  request: SignAtLevelRequest,
  kind: 'S' | 'E',
  services: SigningServices,
): Promise<SignedFile> {
  const { format, input } = request;
  if (format === 'Pades')
    throw new TaskFailure('request.invalid', 'A container holds Cades or Xades signatures, not Pades.');
  const inputs = files === undefined ? [{ path: input, name: fileName }] : rangesOf(input, files);
  const made = await signAsic({ ...request, kind, format, inputs }, services);
  const [only] = made.inputs;
  return { input: files === undefined && only ? only : fingerprintOf(input), output: made.output };
}

function rangesOf(path: string, files: NonNullable<SignTask['files']>) {
  let start = 0;
  return files.map(({ name, length }) => {
    const range = { start, length };
    start += length;
    return { path, name, range };
  });
}

function fingerprintOf(path: string): SignedFile['input'] {
  const { size: length, mtimeMs, ino, dev } = statSync(path);
  return { sha256: fileDigest(path), length, mtimeMs, inode: `${dev}:${ino}` };
}
