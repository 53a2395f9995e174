/**
 * Changes that a signature permits: its DocMDP and FieldMDP transforms and the lock of its field
 * (ISO 32000-2, 12.7.5.5, 12.8.2.2 and 12.8.2.4).
 */
import {
  asInteger,
  asName,
  asText,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import type { Covered } from '../painting/covered-content.ts';

interface ChangePolicy {
  /** 1: evidence and document time-stamps only. 2: also signing and form filling. 3: also comments. */
  readonly level: number;
  /** True when comments are permitted: by level 3, and by a signature that says nothing about changes. */
  readonly permitsComments: boolean;
  /** True for a certification signature. */
  readonly certifies: boolean;
  /**
   * True for a field whose value is locked. Locks of all fields, or all but some, apply to existing fields;
   * the level decides about new ones.
   */
  locks(field: string, isNew: boolean): boolean;
}

/** Level of a certification without /P (table 257), and, by decision 0006, of an approval signature. */
const DEFAULT_LEVEL = 2;

/** @param field the dictionary of the signature field; undefined when it is unknown */
export function policyOf(pdf: PdfDocument, signature: PdfDict, field: PdfDict | undefined): ChangePolicy {
  const levels: number[] = [];
  const locks: Lock[] = [];
  let certifies = false;
  for (const item of items(pdf.resolve(signature.get('Reference')))) {
    const reference = pdf.dict(item);
    const parameters = pdf.dict(reference?.get('TransformParams'));
    const method = asName(pdf.resolve(reference?.get('TransformMethod')));
    if (method === 'DocMDP') {
      certifies = true;
      levels.push(levelOf(pdf, parameters) ?? DEFAULT_LEVEL);
    } else if (method === 'FieldMDP') locks.push(lockOf(pdf, parameters));
  }
  const lock = pdf.dict(field?.get('Lock'));
  if (lock !== undefined) {
    locks.push(lockOf(pdf, lock));
    const level = levelOf(pdf, lock);
    if (level !== undefined) levels.push(level);
  }
  return {
    permitsComments: levels.length === 0 || Math.min(...levels) >= 3,
    level: levels.length === 0 ? DEFAULT_LEVEL : Math.min(...levels),
    certifies,
    locks: (name, isNew) => locks.some((locked) => locked(name, isNew)),
  };
}

type Lock = (field: string, isNew: boolean) => boolean;

/** Reads /P; an invalid level permits nothing. */
function levelOf(pdf: PdfDocument, parameters: PdfDict | undefined): 1 | 2 | 3 | undefined {
  const written = parameters?.get('P');
  if (written === undefined) return undefined;
  const level = asInteger(pdf.resolve(written));
  return level === 2 || level === 3 ? level : 1;
}

/**
 * Reads /Action and /Fields, whose names include all descendants (tables 236 and 259). Invalid ones lock every field.
 */
function lockOf(pdf: PdfDocument, lock: PdfDict | undefined): Lock {
  const action = asName(pdf.resolve(lock?.get('Action')));
  const list = pdf.resolve(lock?.get('Fields'));
  if (action !== 'Include' && action !== 'Exclude') return (_field, isNew) => !isNew;
  if (!isArray(list)) return (_field, isNew) => !isNew;
  const names = [...items(list)].map((item) => asText(pdf.resolve(item)) ?? '');
  const named = (field: string) => names.some((name) => field === name || field.startsWith(`${name}.`));
  return action === 'Include' ? named : (field, isNew) => !isNew && !named(field);
}

/** Returns the reason why a signature does not permit a change; undefined when it does. */
export function policyViolation(change: Change, policy: ChangePolicy): string | undefined {
  const { level, certifies } = policy;
  switch (change.kind) {
    case 'evidence':
    case 'timestamp':
      return undefined;
    case 'forbidden':
      return 'nothing allows that';
    case 'metadata':
    case 'unlisted':
      return level >= 2 ? undefined : 'the signature allows no changes';
    case 'form':
      if (level < 2) return 'the signature allows no changes';
      return policy.locks(change.field, false) ? 'the signature locked this field' : undefined;
    case 'signature':
      if (level < 2) return 'the signature allows no changes';
      if (policy.locks(change.field, change.isNew)) return 'the signature locked this field';
      if (change.covered === 'content') return 'it hides what was there';
      return certifies && change.isVisible ? 'a new visible field can cover what was certified' : undefined;
    case 'annotation':
      return policy.permitsComments ? undefined : 'the signature allows no annotations';
  }
}

/**
 * Change of a later revision of a PDF, classified so that each earlier signature can permit or forbid it
 * (ISO 32000-2, 12.8.2.2).
 */
export type Change =
  /** Forbidden by every signature: content, structure, or an object that can't be distinguished from them. */
  | { readonly kind: 'forbidden'; readonly description: string }
  /** Certificates and revocation values in the /DSS (12.8.4.3). */
  | { readonly kind: 'evidence'; readonly description: string }
  /** A document time-stamp without an appearance (12.8.5). */
  | { readonly kind: 'timestamp'; readonly field: string; readonly description: string }
  | {
      readonly kind: 'signature';
      readonly field: string;
      /** Content of the page, as it was before, below its appearance. */
      readonly covered: Covered;
      readonly isNew: boolean;
      /** True for a new field with a place on a page. */
      readonly isVisible: boolean;
      /** True when the field was signed in this revision; the signature must cover exactly this revision. */
      readonly signs: boolean;
      readonly description: string;
    }
  | {
      readonly kind: 'form';
      readonly field: string;
      readonly description: string;
      /** Reason why the shown value can't be verified; for people. */
      readonly undecided?: string;
    }
  | {
      readonly kind: 'annotation';
      readonly description: string;
      /** True for a comment that draws, or drew, something on the page. */
      readonly drawn: boolean;
      /** Reason why what the comment does to the page cannot be told; for people. */
      readonly undecided?: string;
    }
  /** A signed field, which its page still shows, was taken out of the form. */
  | { readonly kind: 'unlisted'; readonly description: string }
  /** Changes that no page shows: document information, XMP, version, a field made read-only. */
  | {
      readonly kind: 'metadata';
      readonly description: string;
      /** True when programs show it beside the pages, or open the file in another way. */
      readonly isNoticed?: true;
    };

export const forbidden = (description: string): Change => ({ kind: 'forbidden', description });
