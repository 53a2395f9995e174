/** Why a ZIP file is not read. */
import { CryptoError } from '../types.ts';

/** What was found; a stable word that reports carry as `container.<flaw>`. */
export type ZipFlaw =
  /** Not a ZIP file, cut short, or records that contradict the format. */
  | 'malformed'
  /** Bytes before the first member, between members or after the end, which other readers may take for a container. */
  | 'hidden-bytes'
  /** Two members share bytes. */
  | 'overlap'
  /** The directory and a member's own header say different things. */
  | 'header-mismatch'
  /** A name that leaves the folder, is absolute, has control characters, or is no UTF-8. */
  | 'unsafe-name'
  /** Two names that are the same, or differ in nothing but case or composition. */
  | 'duplicate-name'
  /** A symbolic link, device or anything else that is neither file nor folder. */
  | 'special-file'
  | 'encrypted'
  /** A method other than stored and deflated, or a file in several volumes. */
  | 'unsupported'
  /** More members, or more bytes out of fewer, than is looked at. */
  | 'too-large'
  /** The bytes of a member are not those that its checksum and length announce. */
  | 'damaged';

/** Flaws by which a file is not merely broken but would harm or deceive its reader. */
const UNSAFE: ReadonlySet<ZipFlaw> = new Set<ZipFlaw>([
  'hidden-bytes',
  'overlap',
  'header-mismatch',
  'unsafe-name',
  'duplicate-name',
  'special-file',
  'encrypted',
  'too-large',
]);

/** A refusal with code `asic.unsafe` or `asic.malformed`. */
export class ZipFault extends CryptoError {
  readonly flaw: ZipFlaw;
  constructor(flaw: ZipFlaw, message: string) {
    super(UNSAFE.has(flaw) ? 'asic.unsafe' : 'asic.malformed', message);
    this.name = 'ZipFault';
    this.flaw = flaw;
  }
}
