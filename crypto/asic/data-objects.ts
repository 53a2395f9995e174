/** Data objects of a container: its members other than signatures (EN 319 162-1 §4.3, §4.4). */
import { hashSource } from '../cades/content-digests.ts';
import { CryptoError } from '../core/types.ts';
import { openSource } from '../files/source.ts';
import { ZipError } from '../zip/zip-error.ts';
import { Container } from './container.ts';

export interface AsicDataObject {
  readonly name: string;
  /** SHA-256 of the uncompressed content, lower-case hex. */
  readonly sha256: string;
  /** Length in bytes. */
  readonly length: number;
}

/**
 * Lists every data object of a container file, in file order.
 * @throws {CryptoError} `input.unreadable`; `asic.malformed` when the file is no container
 */
export function asicDataObjects(path: string): readonly AsicDataObject[] {
  const source = openSource(path);
  try {
    const container = new Container(source);
    return container.named('data').flatMap((name) => {
      const member = container.member(name);
      return member === undefined
        ? []
        : [{ name, sha256: hashSource(member, []).sha256, length: member.size }];
    });
  } catch (error) {
    if (error instanceof ZipError) throw new CryptoError('asic.malformed', error.message);
    throw error;
  } finally {
    source.close();
  }
}
