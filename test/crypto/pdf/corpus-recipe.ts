/**
 * What a file of the corpus is, and where tools may write while they make one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolName } from '../../verifiers/index.ts';

export interface CorpusFile {
  /** Reads as `a PDF <name>`. */
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * False for what mutool alone can't judge: it counts byte ranges from the header, all others from the first byte, and
   * it knows no two crypt filters in one file.
   */
  readonly mutool?: boolean;
  /** Signature fields that wait to be signed, and go on waiting. @default 0 */
  readonly waiting?: number;
}

/** Recipe of one file of the corpus. */
export interface CorpusRecipe extends Omit<CorpusFile, 'bytes'> {
  /** Programs that are needed; a recipe whose program is missing is left out. */
  readonly tools?: readonly ToolName[];
  make(): Buffer | Promise<Buffer>;
}

/** A folder of this process for what tools read and write. */
export const corpusFolder = mkdtempSync(join(tmpdir(), 'sealwright-corpus-'));
process.on('exit', () => rmSync(corpusFolder, { recursive: true, force: true }));

let pathCount = 0;
export const corpusPath = (name: string): string => join(corpusFolder, `${++pathCount}-${name}`);
