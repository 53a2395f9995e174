/**
 * A disk that loses its power. From the calls a program made for one file it makes the contents the file may have
 * after a power cut at a given moment: what was synced is there; of everything else each sector is there or not, as
 * the dice say, whatever the order in which it was written.
 */
import { bytesIn, type SystemCall } from './system-calls.ts';

/** Everything a disk writes whole or not at all, bytes. */
const SECTOR = 512;

/** The calls that must be noted for the file. */
export const DISK_CALLS = [
  'openat',
  'write',
  'writev',
  'pwrite64',
  'pwritev',
  'pwritev2',
  'lseek',
  'ftruncate',
  'fdatasync',
  'fsync',
  'msync',
  'sync_file_range',
];

interface Write {
  readonly begun: number;
  readonly ended: number;
  readonly offset: number;
  readonly bytes: Buffer;
  /** On a descriptor that syncs each write (`O_DSYNC`). */
  readonly synced: boolean;
}

/** Way in which sectors fare that no sync has reached: all are lost, all are kept, or each as the dice say. */
export type Fate = 'lost' | 'kept' | 'dice';

/** Throws on a call it does not understand, so that nothing is left out unseen. */
export class TornFile {
  readonly #base: Buffer;
  readonly #writes: Write[] = [];
  readonly #syncs: { readonly begun: number; readonly ended: number }[] = [];

  /**
   * @param base the file before the first call, on the disk
   * @param calls on this file only
   */
  constructor(base: Buffer, calls: readonly SystemCall[]) {
    this.#base = base;
    const dsync = new Set<number>();
    const positions = new Map<number, number>();
    for (const { name, args, result, begun, ended } of calls) {
      if (result < 0) continue;
      const fd = Number.parseInt(args, 10);
      const numbers = args.split(', ');
      const add = (offset: number) =>
        this.#writes.push({ begun, ended, offset, bytes: bytesIn(args), synced: dsync.has(fd) });
      if (name === 'openat') {
        if (args.includes('O_DSYNC')) dsync.add(result);
        else dsync.delete(result);
      } else if (name === 'lseek') positions.set(fd, result);
      else if (name === 'pwrite64' || name === 'pwritev') add(Number(numbers.at(-1)));
      else if (name === 'write' || name === 'writev') {
        const position = positions.get(fd);
        if (position === undefined) throw new Error(`a ${name} at an unknown place`);
        add(position);
        positions.set(fd, position + result);
      } else if (name === 'fdatasync' || name === 'fsync') this.#syncs.push({ begun, ended });
      else throw new Error(`cannot tell what ${name} does to a disk`);
    }
  }

  /** Writes and syncs seen. */
  get size(): { readonly writes: number; readonly syncs: number } {
    return { writes: this.#writes.length, syncs: this.#syncs.length };
  }

  /** The same program on a system whose syncs do nothing. */
  withoutSyncs(): TornFile {
    const other = new TornFile(this.#base, []);
    other.#writes.push(...this.#writes.map((write) => ({ ...write, synced: false })));
    return other;
  }

  /**
   * The file as it may be when the power goes between two lines of the log.
   * @param roll a whole number from 0 to below its argument
   */
  after(moment: number, fate: Fate, roll: (limit: number) => number): Buffer {
    const begun = this.#writes.filter((write) => write.begun < moment);
    const length = begun.reduce(
      (end, { offset, bytes }) => Math.max(end, offset + bytes.length),
      this.#base.length,
    );
    const file = Buffer.alloc(length);
    this.#base.copy(file);
    let kept = this.#base.length;
    for (const write of begun) {
      for (let from = 0; from < write.bytes.length; ) {
        const sector = Math.floor((write.offset + from) / SECTOR);
        const to = Math.min(write.bytes.length, (sector + 1) * SECTOR - write.offset);
        if (this.#isSafe(write, moment) || fate === 'kept' || (fate === 'dice' && roll(2) === 0)) {
          write.bytes.copy(file, write.offset + from, from, to);
          kept = Math.max(kept, write.offset + to);
        }
        from = to;
      }
    }
    return file.subarray(0, kept);
  }

  #isSafe(write: Write, moment: number): boolean {
    if (write.synced) return write.ended < moment;
    return this.#syncs.some(({ begun, ended }) => write.ended < begun && ended < moment);
  }
}
