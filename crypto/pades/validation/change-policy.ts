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
import { TRANSFORMS } from '../fields/signature-entries.ts';
import { type ChangeKind, type Decision, type Level, ruleOfKind } from './change-rules.ts';

interface ChangePolicy {
  readonly level: Level;
  /** True for a certification signature. */
  readonly certifies: boolean;
  /** True when it restricts changes by a transform that is not known here: no change is permitted or refused for it. */
  readonly isUnknown: boolean;
  /**
   * True for a field whose value is locked. Locks of all fields, or all but some, apply to existing fields;
   * the level decides about new ones.
   */
  locks(field: string, isNew: boolean): boolean;
}

/** Level of a certification without /P (table 257). */
const DEFAULT_LEVEL = 2;

/** @param field the dictionary of the signature field; undefined when it is unknown */
export function policyOf(pdf: PdfDocument, signature: PdfDict, field: PdfDict | undefined): ChangePolicy {
  const levels: (1 | 2 | 3)[] = [];
  const locks: Lock[] = [];
  let certifies = false;
  let isUnknown = false;
  for (const item of items(pdf.resolve(signature.get('Reference')))) {
    const reference = pdf.dict(item);
    const parameters = pdf.dict(reference?.get('TransformParams'));
    const restricts = TRANSFORMS.get(asName(pdf.resolve(reference?.get('TransformMethod'))) ?? '');
    if (restricts === 'level') {
      certifies = true;
      levels.push(levelOf(pdf, parameters) ?? DEFAULT_LEVEL);
    } else if (restricts === 'lock') locks.push(lockOf(pdf, parameters));
    else if (restricts === undefined) isUnknown = true;
  }
  const lock = pdf.dict(field?.get('Lock'));
  if (lock !== undefined) {
    locks.push(lockOf(pdf, lock));
    const level = levelOf(pdf, lock);
    if (level !== undefined) levels.push(level);
  }
  return {
    level: levels.reduce<Level>((least, one) => (least === 'none' || one < least ? one : least), 'none'),
    certifies,
    isUnknown,
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

/**
 * Change of a later revision of a PDF, classified so that each earlier signature can permit or forbid it
 * (ISO 32000-2, 12.8.2.2).
 */
export interface Change {
  readonly kind: ChangeKind;
  /** For people; completes "revision 2 …". */
  readonly description: string;
  /** Full name of the field that is changed, which a lock may name. */
  readonly field?: string;
  /** True for a field that was not there. */
  readonly isNew?: boolean;
  /** True when the field was signed in this revision; the signature must cover exactly this revision. */
  readonly signs?: boolean;
  /** For people: what has to be looked at. The description unless given. */
  readonly detail?: string;
}

export const forbidden = (description: string): Change => ({ kind: 'forbidden', description });

/** Decides on a change by its kind. @returns the reason as well when the change is refused */
export function decisionOn(
  change: Change,
  policy: ChangePolicy,
): { readonly decision: Decision; readonly reason?: string } {
  const { level, certifies } = policy;
  const rule = ruleOfKind(change.kind);
  const [none, one, two, three] = rule.decisions;
  const byLevel = { none, 1: one, 2: two, 3: three }[level];
  const decision = !certifies && level !== 'none' && level > 1 ? (rule.inLock ?? byLevel) : byLevel;
  if (decision === 'refuse' && level === 1 && none !== 'refuse')
    return { decision, reason: 'the signature allows no changes' };
  const { field, isNew } = change;
  if (rule.isLocked === true && field !== undefined && policy.locks(field, isNew === true))
    return { decision: 'refuse', reason: 'the signature locked this field' };
  if (decision === 'refuse') return { decision, reason: rule.reason ?? 'nothing allows that' };
  return { decision: policy.isUnknown ? 'undecided' : decision };
}

const RANKS: readonly Decision[] = ['permit', 'warn', 'undecided', 'refuse'];

/** Orders kinds by the decisions on them at all levels: the higher, the fewer signatures permit it. */
export function severityOf({ kind }: Change): number {
  return ruleOfKind(kind).decisions.reduce((sum, decision) => sum + RANKS.indexOf(decision), 0);
}
