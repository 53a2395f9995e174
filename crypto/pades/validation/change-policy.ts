/**
 * Which later changes a signature allows: its DocMDP and FieldMDP transforms and the lock of its field
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
import type { Change } from './change.ts';

export interface ChangePolicy {
  /** 1: nothing but evidence and document time-stamps. 2: signing and filling in forms. 3: comments as well. */
  readonly level: number;
  /** The signature certifies the document. */
  readonly certifies: boolean;
  /**
   * True for a field whose value may not change any more. Locks of all fields, or all but some, are about those that
   * were there; whether new ones may come is said by the level.
   */
  locks(field: string, isNew: boolean): boolean;
}

/** What a certification allows that doesn't say (table 257), and, by decision 0006, a signature that is none. */
const DEFAULT_LEVEL = 2;

/** @param field the dictionary of the signature field; undefined when it is not known */
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
    level: levels.length === 0 ? DEFAULT_LEVEL : Math.min(...levels),
    certifies,
    locks: (name, isNew) => locks.some((locked) => locked(name, isNew)),
  };
}

type Lock = (field: string, isNew: boolean) => boolean;

/** /P; one that is no level allows nothing. */
function levelOf(pdf: PdfDocument, parameters: PdfDict | undefined): 1 | 2 | 3 | undefined {
  const written = parameters?.get('P');
  if (written === undefined) return undefined;
  const level = asInteger(pdf.resolve(written));
  return level === 2 || level === 3 ? level : 1;
}

/** /Action and /Fields, which name fields and with them all below (tables 236 and 259). Odd ones lock everything. */
function lockOf(pdf: PdfDocument, lock: PdfDict | undefined): Lock {
  const action = asName(pdf.resolve(lock?.get('Action')));
  const list = pdf.resolve(lock?.get('Fields'));
  if (action !== 'Include' && action !== 'Exclude') return (_field, isNew) => !isNew;
  if (!isArray(list)) return (_field, isNew) => !isNew;
  const names = [...items(list)].map((item) => asText(pdf.resolve(item)) ?? '');
  const named = (field: string) => names.some((name) => field === name || field.startsWith(`${name}.`));
  return action === 'Include' ? named : (field, isNew) => !isNew && !named(field);
}

/** Why a signature does not allow a change; undefined when it does. */
export function objectionTo(change: Change, policy: ChangePolicy): string | undefined {
  const { level, certifies } = policy;
  switch (change.kind) {
    case 'evidence':
    case 'timestamp':
      return undefined;
    case 'forbidden':
      return 'nothing allows that';
    case 'metadata':
      return level >= 2 ? undefined : 'the signature allows no changes';
    case 'form':
      if (level < 2) return 'the signature allows no changes';
      return policy.locks(change.field, false) ? 'the signature locked this field' : undefined;
    case 'signature':
      if (level < 2) return 'the signature allows no changes';
      if (policy.locks(change.field, change.isNew)) return 'the signature locked this field';
      return certifies && change.covers ? 'a new visible field can cover what was certified' : undefined;
    case 'annotation':
      return level >= 3 ? undefined : 'the signature allows no annotations';
  }
}
