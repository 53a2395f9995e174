/**
 * Finds a second document in a file that is signed as another format. Programs recognise some formats by bytes that are not
 * the first ones, so that a file can show what no signature covers. Source: docs/decisions/0590.
 */
import type { Source } from '../core/files.ts';
import { HEADER_BYTES } from '../core/header-format.ts';
import { type Finding, failed, type ValidationReport } from '../core/validation-report.ts';

/** Bytes of a file, the end exclusive. */
export type Place = readonly [from: number, to: number];

interface HiddenFormat {
  readonly name: string;
  /** Formats of signed files that hold its parts by their nature. */
  readonly natural: readonly ValidationReport['format'][];
  /** Bytes in which programs search its mark. */
  readonly searched: (size: number) => Place;
  readonly mark: RegExp;
  /** Words by which programs find its parts, also those that repair. */
  readonly parts: RegExp;
}

/** Longest word of a part, bytes. */
const OVERLAP = 64;
const CHUNK_BYTES = 1 << 20;
/** Record at the end of a ZIP file with its comment (APPNOTE §4.3.16), and what programs accept behind it. */
const ZIP_TAIL = 66 << 10;

/** Every format with documents in it that programs find behind other bytes; `Pades` files are judged by their revisions. */
const HIDDEN_FORMATS: readonly HiddenFormat[] = [
  {
    name: 'a PDF',
    natural: ['Pades'],
    searched: (size) => [0, Math.min(size, HEADER_BYTES + '%PDF-'.length)],
    mark: /%PDF-/,
    parts: /%PDF-|startxref|trailer|[0-9][^!-~]{1,9}[0-9]{1,9}[^!-~]{1,9}obj/,
  },
  {
    name: 'a ZIP file, which office documents are',
    natural: ['Pades', 'Asic'],
    searched: (size) => [Math.max(0, size - ZIP_TAIL), size],
    mark: /PK[^ -~]{2}\0{4}/,
    parts: /PK[^ -~]{2}\0{4}/,
  },
];

/**
 * Returns a failure that leaves the file INDETERMINATE for each format that programs find in it outside of the signed content.
 * @param content places of the bytes that are signed as content, in order
 */
export function secondFormats(
  source: Source,
  format: ValidationReport['format'],
  content: readonly Place[] = [],
): Finding[] {
  const { size } = source;
  const gaps = [...content, [size, size] as const].map(
    ([to], index): Place => [content[index - 1]?.[1] ?? 0, to],
  );
  return HIDDEN_FORMATS.filter(
    ({ natural, searched, mark, parts }) =>
      !natural.includes(format) &&
      holds(source, searched(size), mark) &&
      gaps.some((gap) => holds(source, gap, parts)),
  ).map(({ name }) =>
    failed(
      'file.second-format',
      `Programs can open the file as ${name}, too, which shows something that nobody signed.`,
      'GENERIC',
    ),
  );
}

function holds(source: Source, [from, to]: Place, words: RegExp): boolean {
  for (let at = from; at < to; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES + OVERLAP, to - at);
    if (words.test(source.read(at, length).toString('latin1'))) return true;
  }
  return false;
}
