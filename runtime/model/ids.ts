/** Ids and random bytes: from the system, or from a seed for reproducible runs. */

import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Ids } from './ports.ts';

/** Unpredictable ids. */
export const systemIds: Ids = {
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
};

/** Ids that are the same in the same order for the same seed. For tests; never for secrets. */
export function seededIds(seed: number): Ids {
  let state = seed >>> 0;
  // Weyl sequence with two multiply-xorshift rounds: small, well spread, and the same on every machine.
  const word = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const bytes: Ids['bytes'] = (length) => {
    const out = Buffer.alloc(length);
    for (let at = 0; at < length; at++) out[at] = word() & 0xff;
    return out;
  };
  return { bytes, uuid: () => asUuid(bytes(16)) };
}

/** Sixteen random bytes as a UUID of version 4. Source: RFC 9562 §5.4. */
function asUuid(random: Buffer): string {
  random.writeUInt8((random.readUInt8(6) & 0x0f) | 0x40, 6);
  random.writeUInt8((random.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = random.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Identifies a process also after its pid was given to another one. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time; see `birthOf`. */
  readonly birth: string;
}

export function ownMark(): ProcessMark {
  return { pid: process.pid, birth: birthOf(process.pid) ?? 'unknown' };
}

/** True when that process runs on this machine. */
export function runs({ pid, birth }: ProcessMark): boolean {
  const current = birthOf(pid);
  if (current !== undefined) return current === birth;
  if (hasProcessTable()) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/**
 * Returns the start time of a process: id of this boot plus clock ticks since. Two processes never share it with their
 * pid, also across a reboot. Undefined when there is no such process, or no /proc.
 */
function birthOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything, so fields are counted from its end. Source: proc(5), field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    // A zombie holds no resources.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot}${fields[19]}`;
  } catch {
    return undefined;
  }
}

function hasProcessTable(): boolean {
  return birthOf(process.pid) !== undefined;
}
