/** Bounds what another reader of a ZIP file will unpack. */
import { memorySource } from '../files/memory-source.ts';
import { readDirectory } from './zip-directory.ts';
import { ZipError } from './zip-error.ts';
import { assertIntact } from './zip-member.ts';

/**
 * Reads every member of a ZIP file and verifies lengths and checksums, before the file is given to a library.
 * @param limit maximum of all members together, unpacked, in bytes
 * @throws {ZipError} `too-large` beyond the limit; others for files that two readers could interpret differently
 */
export function assertUnpacksWithin(archive: Buffer, limit: number): void {
  const source = memorySource('archive', archive);
  const { entries } = readDirectory(source);
  const size = entries.reduce((sum, { header }) => sum + header.size, 0);
  if (size > limit) throw new ZipError('too-large', `The file unpacks to more than ${limit} bytes.`);
  for (const entry of entries) assertIntact(source, entry);
}
