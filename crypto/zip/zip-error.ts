/** Reasons why a ZIP file is refused. */
import { CryptoError } from '../core/types.ts';

/** Kind of defect; a stable code that reports carry as `container.<flaw>`. */
type ZipErrorCode =
  /** Not a ZIP file, truncated, or records that violate the format. */
  | 'malformed'
  /**
   * Bytes before the first member, between members or after the end, which other readers can interpret as a
   * container.
   */
  | 'hidden-bytes'
  /** Two members share bytes. */
  | 'overlap'
  /** The directory and a local header disagree. */
  | 'header-mismatch'
  /** A name that is absolute, leaves the folder, has control characters, or is not the UTF-8 that it says. */
  | 'unsafe-name'
  /** Two names that are equal apart from case or Unicode composition. */
  | 'duplicate-name'
  /** A symbolic link, device or other entry that is neither file nor folder. */
  | 'special-file'
  | 'encrypted'
  /** A method other than stored and deflated, a multi-volume file, or a name in a code page. */
  | 'unsupported'
  /** More members, or a higher compression ratio, than the limits allow. */
  | 'too-large'
  /** The bytes of a member contradict its checksum or length. */
  | 'damaged';

/** Defects of files that harm or deceive their reader. */
const UNSAFE: ReadonlySet<ZipErrorCode> = new Set<ZipErrorCode>([
  'hidden-bytes',
  'overlap',
  'header-mismatch',
  'unsafe-name',
  'duplicate-name',
  'special-file',
  'encrypted',
  'too-large',
]);

/** Names flaws of files that can be valid: not read, or more than is read. */
const UNREAD: ReadonlySet<ZipErrorCode> = new Set<ZipErrorCode>(['encrypted', 'unsupported', 'too-large']);

/** Refusal of a ZIP file, with code `asic.unsafe` or `asic.malformed`. */
export class ZipError extends CryptoError {
  readonly flaw: ZipErrorCode;
  /** True when nothing is proven to be broken. */
  readonly isUnread: boolean;
  constructor(flaw: ZipErrorCode, message: string) {
    super(UNSAFE.has(flaw) ? 'asic.unsafe' : 'asic.malformed', message);
    this.name = 'ZipFault';
    this.flaw = flaw;
    this.isUnread = UNREAD.has(flaw);
  }
}
