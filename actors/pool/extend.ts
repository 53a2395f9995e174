/** Raises a signed file to the level of a profile, or renews its archive time-stamps. */
import { closeSync, openSync, readSync } from 'node:fs';
import {
  augmentAsic,
  augmentFile,
  type SignedFile,
  type SignFileRequest,
  type SigningServices,
} from '@sealwright/signatures';
import { TaskFailure } from './task-failure.ts';
import type { SignTask } from './tasks.ts';

/** @throws {CryptoError} those of `augmentFile`; {TaskFailure} `request.invalid` for a profile of level B */
export async function extend(
  { format, profile }: Pick<SignTask, 'format' | 'profile'>,
  { input, output, at, level: to = 'B', password }: Omit<SignFileRequest, 'signer'>,
  services: SigningServices,
): Promise<SignedFile> {
  if (to === 'B')
    throw new TaskFailure(
      'request.invalid',
      `The profile ${profile} has level B; extending needs T, LT or LTA.`,
    );
  const request = { input, output, to, at, sync: false };
  return isContainer(input)
    ? augmentAsic(request, services)
    : augmentFile({ ...request, format, ...(password !== undefined && { password }) }, services);
}

/** True for a ZIP file: checks the first record (APPNOTE 4.3.7). */
export function isContainer(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(4);
    return readSync(file, head, 0, 4, 0) === 4 && head.toString('latin1') === 'PK\x03\x04';
  } finally {
    closeSync(file);
  }
}
