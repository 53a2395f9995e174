/**
 * The closed rule on changes after signing (ISO 32000-2, 12.8.2.2 and 12.8.2.4), as two tables.
 *
 * `ENTRY_RULES` names every entry, of every kind of object, whose value may differ between two revisions, and what such a
 * difference may be. `CHANGE_KINDS` decides on each of these by what the earlier signature says: its level, and a lock of the
 * field. An entry without a row fails, and so does a difference that is none of those in its row.
 */

/** The change passes, passes with a warning, leaves the signature INDETERMINATE, or fails. */
export type Decision = 'permit' | 'warn' | 'undecided' | 'refuse';

/**
 * What a signature says about changes: `none` without a level, as approval signatures are; `1` evidence and document
 * time-stamps only; `2` also signing and filling in; `3` also comments.
 */
export type Level = 'none' | 1 | 2 | 3;

interface KindRule {
  /** Decisions at the levels none, 1, 2 and 3. */
  readonly decisions: readonly [none: Decision, one: Decision, two: Decision, three: Decision];
  /** Decision at the levels 2 and 3 of a lock (table 236) instead of a certification; the same without. */
  readonly inLock?: Decision;
  /** True when a lock of the field refuses it. */
  readonly isLocked?: true;
  /** Reason for a refusal at another level than 1; completes the description of the change. */
  readonly reason?: string;
  /** Type and message of the finding of a change that is not simply permitted. */
  readonly finding?: readonly [type: string, message: string];
  readonly clause: string;
}

const ALWAYS = ['permit', 'permit', 'permit', 'permit'] as const;
const EXCEPT_1 = ['permit', 'refuse', 'permit', 'permit'] as const;
const WARN_EXCEPT_1 = ['warn', 'refuse', 'warn', 'warn'] as const;
const OPEN_EXCEPT_1 = ['undecided', 'refuse', 'undecided', 'undecided'] as const;
const NEVER = ['refuse', 'refuse', 'refuse', 'refuse'] as const;

const COVERING = 'Whether a later signature hides what was signed has to be looked at.';
const HIDES = 'it hides what was there';
const CERTIFIED = 'a new visible field can cover what was certified';
const NO_COMMENTS = 'the signature allows no annotations';

/** Kind of a comment that has to be looked at. */
const remark = (message: string, clause: string) =>
  ({
    decisions: ['warn', 'refuse', 'refuse', 'warn'],
    reason: NO_COMMENTS,
    finding: ['pdf.comment', message],
    clause,
  }) as const;

export const CHANGE_KINDS = {
  /** Content, structure, and what cannot be told from them. */
  forbidden: { decisions: NEVER, reason: 'nothing allows that', clause: '12.8.2.2' },
  /** The cross-reference of the update: every update has one. It is listed where an update has nothing else. */
  continuation: { decisions: ALWAYS, clause: '7.5.6' },
  /** Flags of the form and extensions of the format, which evidence, time-stamps and signatures bring along. */
  upkeep: { decisions: ALWAYS, clause: '12.8.2.2' },
  /** The element of a signature in the logical structure, by which programs read a document aloud. */
  tagging: { decisions: EXCEPT_1, clause: '14.7' },
  /** Certificates and revocation values in the /DSS. */
  evidence: { decisions: ALWAYS, clause: '12.8.4.3' },
  /** Values that the /DSS had, taken out or exchanged: what was proven may no longer be. */
  'evidence-lost': {
    decisions: ['warn', 'warn', 'warn', 'warn'],
    finding: ['pdf.evidence', 'Evidence for later validation was taken out of the file, or exchanged.'],
    clause: '12.8.4.3',
  },
  /** A document time-stamp without an appearance. */
  timestamp: { decisions: ALWAYS, clause: '12.8.5' },
  /** The date and the name that each program leaves that saves a file, also with evidence alone. */
  trace: { decisions: ALWAYS, clause: '14.3' },
  /** Changes that no page shows: a field made read-only, an object to which nothing leads. */
  metadata: { decisions: EXCEPT_1, clause: '14.3' },
  /** Texts that programs show beside the pages, and entries that say how they open the file. */
  noticed: {
    decisions: WARN_EXCEPT_1,
    finding: ['pdf.metadata', 'What programs show about the document was changed, or how they open it.'],
    clause: '14.3',
  },
  /** Bytes after the end that no reader takes for a part of the document: Ctrl-Z, a comment of HTML. */
  padding: {
    decisions: ['warn', 'undecided', 'warn', 'warn'],
    finding: ['pdf.trailing', 'Bytes follow the end of the document, which no signature covers.'],
    clause: '7.5.5',
  },
  /** Other bytes after the end without a word by which a repair finds parts of a document. */
  stray: {
    decisions: ['undecided', 'undecided', 'undecided', 'undecided'],
    finding: [
      'pdf.trailing',
      'What follows the end of the document, which no signature covers, has to be looked at.',
    ],
    clause: '7.5.5',
  },
  /** Entries of the form from which no field is drawn. */
  setting: { decisions: EXCEPT_1, clause: '12.7.3' },
  /** A signed field, which its page still shows, taken out of the form, or the flag that it has signatures. */
  unlisted: {
    decisions: WARN_EXCEPT_1,
    finding: ['pdf.field', 'A signature was taken out of the form, so other programs may not show it.'],
    clause: '12.7.3',
  },
  /** Entries of a field that change nothing that is drawn. */
  entry: { decisions: EXCEPT_1, isLocked: true, clause: '12.8.2.4' },
  /** A field that shows its new value. */
  fill: { decisions: EXCEPT_1, isLocked: true, clause: '12.7.4.3' },
  /** A field of which another part draws the same value. */
  redrawn: {
    decisions: WARN_EXCEPT_1,
    finding: ['pdf.field-appearance', 'Viewers draw a field anew, and may draw its value in another form.'],
    clause: '12.7.4.3',
  },
  /** A field that may show something else than its value. */
  'fill-open': {
    decisions: OPEN_EXCEPT_1,
    isLocked: true,
    finding: [
      'pdf.field-appearance',
      'A field was filled in, and whether it shows its value has to be looked at.',
    ],
    clause: '12.7.4.3',
  },
  /** The values of the fields once more, for programs that draw the form from a description of its own. */
  'form-data': {
    decisions: WARN_EXCEPT_1,
    finding: ['pdf.form-data', 'The form stores its values twice (XFA), and both were filled in alike.'],
    clause: '12.7.8',
  },
  /** Values of that kind that are not proven to be those of the fields. */
  'form-data-open': {
    decisions: OPEN_EXCEPT_1,
    finding: [
      'pdf.form-data',
      'The form stores its values twice (XFA), and whether the second ones are those of the fields has to be looked at.',
    ],
    clause: '12.7.8',
  },
  /** A signature in an existing field, or in a new one without a place on a page. */
  signature: { decisions: EXCEPT_1, isLocked: true, clause: '12.8.1' },
  /** The same, over something that cannot be read. */
  'signature-over': {
    decisions: WARN_EXCEPT_1,
    isLocked: true,
    finding: ['pdf.covering', COVERING],
    clause: '12.8.1',
  },
  /** A signature field with a new place on a page. */
  'new-signature': {
    decisions: ['warn', 'refuse', 'refuse', 'refuse'],
    inLock: 'warn',
    isLocked: true,
    reason: CERTIFIED,
    finding: ['pdf.covering', 'A later signature can be seen on the page.'],
    clause: '12.8.2.2',
  },
  'new-signature-over': {
    decisions: ['warn', 'refuse', 'refuse', 'refuse'],
    inLock: 'warn',
    isLocked: true,
    reason: CERTIFIED,
    finding: ['pdf.covering', COVERING],
    clause: '12.8.2.2',
  },
  /** A signature over the look of another, which whoever signed in between may have taken for content. */
  'signature-over-look': {
    decisions: ['undecided', 'refuse', 'refuse', 'refuse'],
    inLock: 'undecided',
    isLocked: true,
    reason: HIDES,
    finding: ['pdf.covering', COVERING],
    clause: '12.8.2.2',
  },
  /** A signature over the content of the page. */
  'signature-hides': { decisions: NEVER, isLocked: true, reason: HIDES, clause: '12.8.2.2' },
  /** A comment that draws nothing itself, and by which viewers mark no text. A signature without a level says nothing about comments. */
  comment: {
    decisions: ['warn', 'refuse', 'refuse', 'permit'],
    reason: NO_COMMENTS,
    finding: ['pdf.comment', 'A comment was added or changed.'],
    clause: '12.8.2.2',
  },
  'comment-drawn': remark('A comment draws on the page.', '12.8.2.2'),
  /** A comment that was there before: other words, another place, or none. */
  'comment-changed': remark('A comment that was there before was changed or removed.', '12.8.2.2'),
  /** A window of a comment, which is open over something. */
  'comment-window': remark('The window of a comment is open over what was signed.', '12.5.6.14'),
  'comment-file': remark('A file was attached to a page.', '12.5.6.15'),
  'comment-open': {
    decisions: ['undecided', 'refuse', 'refuse', 'undecided'],
    reason: NO_COMMENTS,
    finding: ['pdf.comment', 'Whether a comment hides or changes what was signed has to be looked at.'],
    clause: '12.8.2.2',
  },
} as const satisfies Readonly<Record<string, KindRule>>;

export type ChangeKind = keyof typeof CHANGE_KINDS;

export const ruleOfKind = (kind: ChangeKind): KindRule => CHANGE_KINDS[kind];

/** Objects whose entries are compared. A signed field has a signature, or is a widget of one that has. */
export type Place =
  | 'trailer'
  | 'information'
  | 'catalogue'
  | 'evidence store'
  | 'evidence of a signature'
  | 'structure'
  | 'structure element'
  | 'form'
  | 'new form'
  | 'form resources'
  | 'field'
  | 'empty signature field'
  | 'signed field'
  | 'new signature field'
  | 'new group of fields'
  | 'page tree'
  | 'page'
  | 'comment'
  | 'new comment'
  | 'other annotation';

/**
 * How a difference is judged.
 *
 * | judged    | passes                                                                        |
 * |-----------|-------------------------------------------------------------------------------|
 * | part      | by rows of their own for what it consists of                                  |
 * | plain     | a value without references to other objects                                   |
 * | root      | a new object with the entries of the catalogue                                |
 * | name      | a name of the standard                                                        |
 * | levels    | extensions of the format: all that were there, at their levels or higher ones |
 * | unused    | all that was there stays, and no field draws with what is new or exchanged    |
 * | xmp       | a stream of XMP                                                               |
 * | evidence  | streams of evidence, and references to them                                   |
 * | dropped   | it leads to no stream any more, and the streams are as before                 |
 * | flags     | a number                                                                      |
 * | read-only | the flag ReadOnly is added, no other changes                                  |
 * | seen      | flags of an annotation, when what is seen stays                               |
 * | drawn     | by who draws the field before and after, and from what                        |
 * | data      | the part with the values, each of which is that of the field of its name      |
 * | style     | `drawn`, beside another value                                                 |
 * | signing   | a signature that covers this revision, with an appearance that hides nothing  |
 * | look      | lines and boxes that hide nothing, of the kind of the comment                 |
 */
export type Judged =
  | 'part'
  | 'plain'
  | 'root'
  | 'name'
  | 'levels'
  | 'unused'
  | 'xmp'
  | 'evidence'
  | 'dropped'
  | 'flags'
  | 'read-only'
  | 'seen'
  | 'drawn'
  | 'data'
  | 'style'
  | 'signing'
  | 'look';

export interface EntryRule {
  readonly place: Place;
  /** Keys without their solidus; `*` for any other. */
  readonly keys: readonly string[];
  readonly judged: Judged;
  /** Kinds of a difference besides forbidden. */
  readonly yields: readonly ChangeKind[];
  readonly clause: string;
}

const FILLS: readonly ChangeKind[] = ['fill', 'fill-open', 'redrawn'];
const SIGNS: readonly ChangeKind[] = [
  'signature',
  'signature-over',
  'signature-over-look',
  'signature-hides',
];
const ADDS: readonly ChangeKind[] = [...SIGNS, 'new-signature', 'new-signature-over', 'timestamp'];
const COMMENTS: readonly ChangeKind[] = [
  'comment',
  'comment-drawn',
  'comment-changed',
  'comment-window',
  'comment-file',
  'comment-open',
];

const rule = (
  place: Place,
  keys: string,
  judged: Judged,
  { yields, clause }: Pick<EntryRule, 'yields' | 'clause'>,
): EntryRule => ({ place, keys: keys.split(' '), judged, yields, clause });

export const ENTRY_RULES: readonly EntryRule[] = [
  rule('trailer', 'ID DocChecksum', 'plain', { yields: ['continuation'], clause: '7.5.5' }),
  rule('trailer', 'Prev Size XRefStm Type W Index Length Filter DecodeParms DL', 'plain', {
    yields: ['continuation'],
    clause: '7.5.8',
  }),
  // The same document in another format, which its editor opens in place of the pages; other programs leave it out.
  rule('trailer', 'AdditionalStreams', 'dropped', { yields: ['continuation'], clause: '7.5.5' }),
  rule('trailer', 'Root', 'root', { yields: ['metadata'], clause: '7.7.2' }),
  rule('trailer', 'Info', 'part', { yields: [], clause: '14.3.3' }),
  rule('information', 'Title Author Subject Keywords', 'plain', { yields: ['noticed'], clause: '14.3.3' }),
  rule('information', 'ModDate Producer', 'plain', { yields: ['trace'], clause: '14.3.3' }),
  rule('information', '*', 'plain', { yields: ['metadata'], clause: '14.3.3' }),

  rule('catalogue', 'AcroForm', 'part', { yields: [], clause: '12.7.3' }),
  rule('catalogue', 'DSS', 'evidence', { yields: ['evidence', 'evidence-lost'], clause: '12.8.4.3' }),
  rule('catalogue', 'Metadata', 'xmp', { yields: ['trace', 'noticed'], clause: '14.3.2' }),
  rule('catalogue', 'Version PageMode PageLayout', 'name', { yields: ['noticed'], clause: '7.7.2' }),
  rule('catalogue', 'Extensions', 'levels', { yields: ['upkeep'], clause: '7.12' }),
  rule('catalogue', 'StructTreeRoot', 'part', { yields: [], clause: '14.7' }),
  rule('structure', 'K ParentTree ParentTreeNextKey', 'part', { yields: [], clause: '14.7.2' }),
  rule('structure element', 'K', 'part', { yields: [], clause: '14.7.3' }),
  rule('evidence store', 'Type VRI Certs OCSPs CRLs', 'evidence', {
    yields: ['evidence', 'evidence-lost'],
    clause: '12.8.4.3',
  }),
  rule('evidence store', 'PBAD_PolicyArtifacts PBAD_LpaArtifacts PBAD_LpaSignatures', 'evidence', {
    yields: ['evidence', 'evidence-lost'],
    clause: 'DOC-ICP-15.03',
  }),
  rule('evidence of a signature', 'Type Cert OCSP CRL TU TS', 'evidence', {
    yields: ['evidence', 'evidence-lost'],
    clause: '12.8.4.3',
  }),
  rule('evidence of a signature', 'PBAD_PolicyArtifact PBAD_LpaArtifact PBAD_LpaSignature', 'evidence', {
    yields: ['evidence', 'evidence-lost'],
    clause: 'DOC-ICP-15.03',
  }),

  rule('form', 'Fields', 'part', { yields: [], clause: '12.7.3' }),
  rule('form', 'SigFlags', 'flags', { yields: ['upkeep', 'metadata', 'unlisted'], clause: '12.7.3' }),
  rule('form', 'DA NeedAppearances', 'drawn', { yields: ['setting', 'redrawn'], clause: '12.7.4.3' }),
  rule('form', 'XFA', 'data', { yields: ['form-data', 'form-data-open'], clause: '12.7.8' }),
  rule('form', 'DR', 'part', { yields: [], clause: '12.7.3' }),
  rule('new form', 'Fields DR', 'part', { yields: [], clause: '12.7.3' }),
  rule('new form', 'SigFlags DA Q NeedAppearances', 'drawn', { yields: ['upkeep'], clause: '12.7.3' }),
  rule(
    'form resources',
    'Font XObject ExtGState ColorSpace Pattern Shading Properties ProcSet Encoding',
    'unused',
    { yields: ['setting'], clause: '7.8.3' },
  ),

  rule('field', 'V AP AS RV I TI', 'drawn', { yields: FILLS, clause: '12.7.4.3' }),
  rule('field', 'DA Q MK', 'style', { yields: FILLS, clause: '12.7.4.3' }),
  rule('field', 'M', 'plain', { yields: ['entry', ...FILLS], clause: '12.5.2' }),
  rule('field', 'Ff', 'read-only', { yields: ['metadata'], clause: '12.7.4.1' }),
  rule('field', 'Kids', 'part', { yields: [], clause: '12.7.4.1' }),
  rule('empty signature field', 'V AP AS Lock', 'signing', { yields: SIGNS, clause: '12.7.5.5' }),
  rule('empty signature field', 'F', 'seen', { yields: ['entry', ...SIGNS], clause: '12.5.3' }),
  rule('empty signature field', 'M', 'plain', { yields: ['entry', ...SIGNS], clause: '12.5.2' }),
  rule('empty signature field', 'Ff', 'read-only', { yields: ['metadata'], clause: '12.7.4.1' }),
  rule('empty signature field', 'Kids', 'part', { yields: [], clause: '12.7.4.1' }),
  rule('signed field', 'Ff', 'read-only', { yields: ['metadata'], clause: '12.7.4.1' }),
  rule('signed field', 'Kids', 'part', { yields: [], clause: '12.7.4.1' }),
  rule('new signature field', 'V AP AS F Rect MK BS Border DA DR Q', 'signing', {
    yields: ADDS,
    clause: '12.7.5.5',
  }),
  rule('new signature field', 'Type Subtype FT T TU TM Ff P M NM Lock SV H', 'signing', {
    yields: ADDS,
    clause: '12.7.5.5',
  }),
  rule('new signature field', 'Parent Kids StructParent Lang', 'signing', {
    yields: ADDS,
    clause: '12.7.4.1',
  }),
  rule('new group of fields', 'T Parent Kids', 'part', { yields: [], clause: '12.7.4.1' }),

  rule('page', 'Annots', 'part', { yields: [], clause: '12.5.2' }),
  rule('page', 'Tabs', 'name', { yields: ['metadata'], clause: '12.5.1' }),
  rule('comment', 'Contents RC M NM T C Subj AS State StateModel Open F Rect QuadPoints AP', 'look', {
    yields: COMMENTS,
    clause: '12.5.6',
  }),
  rule('new comment', 'Type Subtype Rect Contents P NM M F AP AS Border C Lang BM', 'look', {
    yields: COMMENTS,
    clause: '12.5.2',
  }),
  rule('new comment', 'CA T Popup RC CreationDate IRT Subj RT IT', 'look', {
    yields: COMMENTS,
    clause: '12.5.6.2',
  }),
  rule('new comment', 'QuadPoints Name Open Parent State StateModel BS RD Sy FS OC', 'look', {
    yields: COMMENTS,
    clause: '12.5.6',
  }),
  // Only free text is drawn from it, which is no comment here; some programs write it into every comment.
  rule('new comment', 'DA', 'look', { yields: COMMENTS, clause: '12.5.6.6' }),
];

const RULES = new Map<Place, ReadonlyMap<string, EntryRule>>();

/** Returns the rule on an entry; undefined: it must stay. */
export function ruleOf(place: Place, key: string): EntryRule | undefined {
  let rules = RULES.get(place);
  if (rules === undefined) {
    const own = ENTRY_RULES.filter((one) => one.place === place);
    rules = new Map(own.flatMap((one) => one.keys.map((name): [string, EntryRule] => [name, one])));
    RULES.set(place, rules);
  }
  return rules.get(key) ?? rules.get('*');
}
