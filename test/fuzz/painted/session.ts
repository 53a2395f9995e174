/** Makes random changes that look permitted, and lets two renderers look at those that pass. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportOn } from '../../crypto/pades/validation/attack-files.ts';
import type { Random } from '../random.ts';
import { type Page, randomChange } from './changes.ts';
import { entryChange } from './entry-changes.ts';
import { Pictures } from './pictures.ts';

export interface PaintedSession {
  readonly verdicts: Readonly<Record<'passed' | 'warned' | 'undecided' | 'failed', number>>;
  /** Changes that pass although they show something else than what was signed and their value. */
  readonly accepted: readonly string[];
}

/** Descriptions of changes after which a page may look different without a warning. */
const SHOWN = /filled|annotation/;

/** Changes that are looked at together; renderers are processes. */
const AT_ONCE = 3;

interface SessionOptions {
  readonly random: Random;
  readonly pages: readonly Page[];
  readonly changes: number;
  /** Folder for the files of accepted changes; none are written without it. */
  readonly out?: string | undefined;
  readonly isOver?: () => boolean;
}

export async function paintedSession({
  random,
  pages,
  changes,
  out,
  isOver,
}: SessionOptions): Promise<PaintedSession> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-painted-'));
  const pictures = new Pictures(folder);
  const verdicts = { passed: 0, warned: 0, undecided: 0, failed: 0 };
  const accepted: string[] = [];
  const looking = new Set<Promise<void>>();
  try {
    for (let number = 0; number < changes && isOver?.() !== true; number++) {
      const change = random.once(2) ? entryChange(random) : randomChange(random, pages);
      const [signature] = reportOn(change.after).signatures;
      const isWarned = signature?.results.warnings.some(({ type }) => type.startsWith('pdf.')) === true;
      if (signature?.indication !== 'TOTAL-PASSED') {
        verdicts[signature?.indication === 'INDETERMINATE' ? 'undecided' : 'failed']++;
        continue;
      }
      verdicts[isWarned ? 'warned' : 'passed']++;
      const isListed =
        isWarned || (signature.changes ?? []).some(({ description }) => SHOWN.test(description));
      const look = pictures.faultsOf(change).then(async (found) => {
        const isSilent = !isListed && change.kind === 'entry' && (await pictures.differs(change));
        const faults = isSilent
          ? [...found, 'shows something else without a warning or a listed value']
          : found;
        if (faults.length === 0) return;
        accepted.push(
          `change ${number}, ${isWarned ? 'warned' : 'passed'}, ${faults.join('; ')}: ${change.description}`,
        );
        if (out !== undefined) writeFileSync(join(out, `${number}.pdf`), change.after);
      });
      const tracked = look.finally(() => looking.delete(tracked));
      looking.add(tracked);
      if (looking.size >= AT_ONCE) await Promise.race(looking);
    }
    await Promise.all(looking);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { verdicts, accepted };
}
