/** Writes a container: new, or an existing one with members added and replaced. */
import { createHash } from 'node:crypto';
import type { Source } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import type { SignedFile } from '../types.ts';
import type { Container } from './container.ts';
import { MeasuredSource } from './measured-source.ts';
import { memorySource } from './memory-source.ts';
import { ZipWriter } from './zip-writer.ts';

/** A member to write; its source's name is the member's. */
export type AddedMember = MeasuredSource;

/** What becomes of a container. */
export interface ContainerEdit {
  /** Members that are left out; all others keep their bytes and their order. */
  readonly dropped: ReadonlySet<string>;
  /** Behind all that is kept. */
  readonly added: readonly AddedMember[];
}

export interface ContainerOutput {
  readonly output: string;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
  /** Of the new members, milliseconds since the epoch. */
  readonly at: number;
}

export function textMember(name: string, text: string): AddedMember {
  return bytesMember(name, Buffer.from(text));
}

export function bytesMember(name: string, bytes: Buffer): AddedMember {
  return new MeasuredSource(memorySource(name, bytes));
}

/**
 * @param existing what is kept comes first, as it is
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
      writer.keep(entry, existing?.source.chunks(entry.start, entry.end) ?? []);
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
