/** Writes a container: new, or an existing one with members added and replaced. */
import { createHash } from 'node:crypto';
import { createTarget, memorySource, type Source } from '../core/files.ts';
import type { OutputFile, SignedFile } from '../core/types.ts';
import { ZipWriter } from '../zip/zip-writer.ts';
import type { Container } from './container.ts';
import { HashingSource } from './hashing-source.ts';

/** A member to write; its source's name is the member's. */
export type AddedMember = HashingSource;

/** Changes to a container. */
export interface ContainerEdit {
  /** Removed members; all others keep their bytes and order. */
  readonly dropped: ReadonlySet<string>;
  /** Added members, after all retained ones. */
  readonly added: readonly AddedMember[];
}

interface ContainerOutput {
  readonly output: OutputFile;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
  /** Modification time of the new members, milliseconds since the epoch. */
  readonly at: number;
}

export function textMember(name: string, text: string): AddedMember {
  return bytesMember(name, Buffer.from(text));
}

export function bytesMember(name: string, bytes: Buffer): AddedMember {
  return new HashingSource(memorySource(name, bytes));
}

/**
 * Writes a container.
 * @param existing retained members are written first, unchanged
 * @throws {CryptoError} `output.exists`, `output.unwritable`, `input.unreadable`, `input.changed`. No output is left then.
 */
export function writeContainer(
  { output, sync = true, at }: ContainerOutput,
  { dropped, added }: ContainerEdit,
  existing?: Container,
  comment: Buffer = existing?.directory.comment ?? Buffer.alloc(0),
): SignedFile['output'] {
  const target = createTarget(output);
  try {
    const hash = createHash('sha256');
    const writer = new ZipWriter(
      {
        write(...parts) {
          for (const part of parts) hash.update(part);
          target.write(...parts);
        },
      },
      at,
    );
    for (const entry of existing?.directory.entries ?? []) {
      if (dropped.has(entry.name)) continue;
      writer.addStored(entry, existing?.source.chunks(entry.start, entry.end) ?? []);
    }
    for (const member of added) {
      const { crc32 } = member.measure;
      writer.add({ name: member.path, size: member.size, crc32 }, member.chunks());
    }
    writer.finish(comment);
    for (const source of [existing?.source, ...added] as readonly (Source | undefined)[]) {
      source?.assertUnchanged();
    }
    if (sync) target.sync();
    target.close();
    return { sha256: hash.digest('hex'), length: target.length };
  } catch (error) {
    target.discard();
    throw error;
  }
}
