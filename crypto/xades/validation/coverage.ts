/** Description of the content that a signature covers, and findings about content it does not cover. */
import { type Finding, failed, type SignatureScope, warned } from '../../core/validation-report.ts';
import { DS } from '../elements/identifiers.ts';
import type { ExaminedReference } from './examine-references.ts';
import { filteredData, loosePrefixes, printable, type ReferenceContext } from './reference-data.ts';
import { holds, type SignatureNode } from './signature-node.ts';
import type { SignatureFormat } from './signed-info.ts';
import { isBlank, type Offsets } from './text-splits.ts';
import { stagesOf } from './transforms.ts';

interface Coverage {
  readonly scope: SignatureScope;
  readonly findings: readonly Finding[];
}

interface Part {
  readonly kind: SignatureScope['kind'];
  readonly description: string;
}

/** Parts listed in full in one description. */
const NAMED = 5;

export function coverageOf(
  context: ReferenceContext,
  form: SignatureFormat,
  references: readonly ExaminedReference[],
): Coverage {
  const examined = references.flatMap((reference) => [reference, ...(reference.listed ?? [])]);
  const parts = examined.flatMap((reference) => partOf(context, form, reference));
  const [first] = parts;
  const findings: Finding[] = [];
  if (first === undefined) {
    const lost = references.some(({ data }) => data === undefined);
    if (!lost) {
      findings.push(failed('structure.scope', 'The signature is over nothing but parts of itself.'));
    }
    return { scope: { kind: 'content', description: 'nothing that can be found' }, findings };
  }
  const whole = parts.some(({ kind }) => kind === 'document');
  const only = whole ? parts.filter(({ kind }) => kind !== 'element') : parts;
  const names = [...new Set(only.map(({ description }) => description))];
  const more = names.length - NAMED;
  const description = more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ');
  findings.push(
    ...outside(context, form, parts),
    ...leftOut(context, form, examined),
    ...droppedMarkup(context, form, examined),
    ...loosePrefixFindings(context, form, examined),
    ...unsignedObjects(context, form, examined, description),
  );
  return { scope: { kind: only[0]?.kind ?? first.kind, description }, findings };
}

function partOf(
  context: ReferenceContext,
  { node }: SignatureFormat,
  { data, role, form }: ExaminedReference,
): Part[] {
  if (data === undefined || role === 'properties' || role === 'part') return [];
  if (role === 'manifest') return [{ kind: 'content', description: 'what its manifest lists' }];
  if (role === 'value') return [{ kind: 'signature', description: 'the value of another signature' }];
  if (data.kind === 'outside') {
    return [
      {
        kind: 'content',
        description: data.uri === undefined ? 'a file that is not named' : printable(data.uri),
      },
    ];
  }
  const filtered = filteredData(context, data, node);
  const { later } = filtered ?? {};
  const place = filtered?.apex ?? (data.kind === 'element' ? data.place : undefined);
  const isWhole = place === undefined || place.start === context.map.root.start;
  if (later === undefined && isWhole) {
    const others =
      filtered?.otherSignatures === true || stagesOf(data.processing).some((one) => one.withoutSignatures);
    const whole = others ? `${WHOLE} without its signatures` : WHOLE;
    if (filtered === undefined || filtered.left.length === 0)
      return [{ kind: 'document', description: whole }];
    const joint = others ? ' and without' : ' without';
    return [{ kind: 'element', description: `${whole}${joint} ${listed(filtered.left)}` }];
  }
  const without = filtered?.left.length ? `, without ${listed(filtered.left)}` : '';
  const named = isWhole ? '' : place.path;
  // The root of a canonical form is the element that it is of.
  const path =
    later === undefined ? named : isWhole ? later.path : named + later.path.replace(/^\/[^/]*/, '');
  const isFiltered = filtered?.apex !== undefined || later !== undefined;
  if (later?.isInOwn === true || (place !== undefined && holds(node, place))) {
    const isObject = data.kind === 'element' && data.place.namespace === DS && data.place.local === 'Object';
    const where = isObject && !isFiltered ? INSIDE : `${INSIDE}, ${path}`;
    return [{ kind: 'content', description: `${where} (${printable(form.uri)})${without}` }];
  }
  const uri = isFiltered ? '' : ` (${printable(form.uri)})`;
  return [{ kind: 'element', description: `the element ${path}${uri}${without}` }];
}

/** Lists paths, of many the first ones. */
function listed(paths: readonly string[]): string {
  const more = paths.length - NAMED;
  const names = paths.slice(0, NAMED).map(printable).join(', ');
  return more > 0 ? `${names} and ${more} more` : names;
}

/** Reports elements that transforms leave out, whose content nobody signed, wherever they stand. */
function leftOut(
  context: ReferenceContext,
  { node }: SignatureFormat,
  references: readonly ExaminedReference[],
): Finding[] {
  const filtered = references.flatMap(({ data, role }) =>
    data === undefined || role !== 'data' ? [] : (filteredData(context, data, node) ?? []),
  );
  const findings: Finding[] = [];
  const warn = (type: string, message: string, detail?: string) =>
    findings.push(warned(type, message, detail));
  const paths = [...new Set(filtered.flatMap(({ left }) => left))];
  if (paths.length > 0) {
    warn(
      'scope.left-out',
      'Transforms leave elements out of what is signed; anyone can add, change and remove such elements.',
      listed(paths),
    );
  }
  if (filtered.some(({ inText }) => inText)) {
    warn(
      'scope.left-out-in-text',
      'An element that is left out divides signed text, and may cut it short for some readers.',
    );
  }
  if (filtered.some(({ isLate }) => isLate)) {
    warn(
      'reference.transforms',
      'The signature is left out after a canonicalization, which not all programs do.',
    );
  }
  return findings;
}

/** Reports content outside the covered parts that readers can mistake for signed. */
function outside({ map }: ReferenceContext, { node }: SignatureFormat, parts: readonly Part[]): Finding[] {
  if (parts.some(({ kind }) => kind === 'document')) return [];
  const alone = node.start === map.root.start || (map.elementsOutside === 0 && !map.contentOutside);
  if (alone) return [];
  if (parts.some(({ description }) => description.startsWith(WHOLE))) return [];
  const covered = parts.filter(({ kind }) => kind === 'element').map(({ description }) => description);
  if (covered.length === 0 && parts.every(({ description }) => description.startsWith(INSIDE))) {
    const message = 'All that is signed stands inside the signature; nothing of the document around it is.';
    return [failed('scope.detour', message, 'SIG_CONSTRAINTS_FAILURE')];
  }
  const message =
    covered.length === 0
      ? 'The document the signature stands in is not signed by it.'
      : 'Only a part of the document is signed; the rest of it may have been changed.';
  return [warned('scope.partial', message, covered.length > 0 ? covered.join(', ') : undefined)];
}

const WHOLE = 'the whole document';
const INSIDE = 'the content inside the signature';

/**
 * Reports markup that canonicalization drops, so that anyone can add it, even inside a value: comments, boundaries of
 * CDATA sections, and the place of an excluded signature.
 */
function droppedMarkup(
  context: ReferenceContext,
  { node }: SignatureFormat,
  references: readonly ExaminedReference[],
): Finding[] {
  const found = { comments: false, commentsInText: false, sectionsInText: false, signaturesInText: false };
  for (const { data, role } of references) {
    if (data === undefined || role !== 'data') continue;
    const { output } = data.processing;
    const stages = stagesOf(data.processing);
    const enveloped = stages.some((stage) => stage.enveloped);
    const withoutSignatures =
      stages.some((stage) => stage.withoutSignatures) ||
      filteredData(context, data, node)?.otherSignatures === true;
    if (data.kind === 'outside') {
      const splits = context.splits.get(data.content);
      // Without canonicalization the bytes themselves are signed.
      if (splits === undefined || typeof output !== 'object') continue;
      const has = ({ list }: Offsets): boolean => list.length > 0;
      if (!output.comments) {
        found.comments ||= has(splits.comments);
        found.commentsInText ||= has(splits.commentsInText);
      }
      found.sectionsInText ||= has(splits.sectionsInText);
      continue;
    }
    const { splits, utf8 } = context.map;
    const { start, end } = data.kind === 'element' ? data.place : { start: 0, end: utf8.length };
    // The signature's own elements, which an enveloped signature excludes.
    const isOwn = (at: number): boolean =>
      at > node.start && at < node.end && !(start > node.start && end <= node.end);
    const has = ({ list, more }: Offsets, concerns = (at: number) => !isOwn(at)): boolean =>
      more || list.some((at) => at > start && at < end && concerns(at));
    const keepsComments =
      stages.every((stage) => typeof stage.output === 'object' && stage.output.comments) &&
      'comments' in data.target &&
      data.target.comments;
    if (!keepsComments) {
      found.comments ||= has(splits.comments);
      found.commentsInText ||= has(splits.commentsInText);
    }
    found.sectionsInText ||= has(splits.sectionsInText);
    if (withoutSignatures) found.signaturesInText ||= has(splits.signaturesInText);
    else if (enveloped) found.signaturesInText ||= has(splits.signaturesInText, (at) => at === node.start);
  }
  const findings: Finding[] = [];
  const warn = (type: string, message: string) => findings.push(warned(type, message));
  if (found.commentsInText) {
    warn(
      'scope.comment-in-text',
      'Comments that nobody signed stand in the middle of signed text, and may cut it short for some readers.',
    );
  } else if (found.comments) warn('scope.comments', 'The comments in the document are not signed.');
  if (found.sectionsInText) {
    warn(
      'scope.cdata-in-text',
      'CDATA sections, whose limits nobody signed, divide signed text, and may cut it short for some readers.',
    );
  }
  if (found.signaturesInText) {
    warn(
      'scope.signature-in-text',
      'A signature, whose place nobody signed, divides signed text, and may cut it short for some readers.',
    );
  }
  return findings;
}

/** Reports prefixes in signed values that anyone can bind to another namespace. */
function loosePrefixFindings(
  context: ReferenceContext,
  { node }: SignatureFormat,
  references: readonly ExaminedReference[],
): Finding[] {
  const loose = references.flatMap(({ data, role }) =>
    data === undefined || role !== 'data' ? [] : [...loosePrefixes(context, data, node)],
  );
  if (loose.length === 0) return [];
  const message =
    'Values have prefixes of namespaces that the canonicalization leaves out; anyone can make them stand for other namespaces.';
  return [warned('scope.prefix', message, prefixesText(loose))];
}

/** Lists prefixes for messages. */
export function prefixesText(prefixes: Iterable<string>): string {
  const names = [...new Set(prefixes)].sort().map((prefix) => (prefix === '' ? '#default' : prefix));
  return listed(names);
}

/** Reports objects of the signature with content that no reference covers. */
function unsignedObjects(
  { map }: ReferenceContext,
  { objects }: SignatureFormat,
  references: readonly ExaminedReference[],
  description: string,
): Finding[] {
  const covered = references.flatMap(({ data }) => (data?.kind === 'element' ? [data.place] : []));
  const loose = objects.filter((object) => {
    if (covered.some((place) => holds(place, object))) return false;
    const properties = object.children.filter(({ local }) => local === 'QualifyingProperties');
    const known = [...covered, ...properties].filter((place) => holds(object, place));
    return known.length === 0 || !isFilled(map.utf8, object, known);
  });
  if (loose.length === 0) return [];
  const message = 'The signature holds content that it does not sign.';
  return [warned('scope.unsigned-object', message, `signed is ${description}`)];
}

/** True when the object contains only white space outside these ranges. */
function isFilled(
  utf8: Buffer,
  { contentStart, contentEnd }: SignatureNode,
  places: readonly { readonly start: number; readonly end: number }[],
): boolean {
  let at = contentStart;
  for (const { start, end } of places.toSorted((one, other) => one.start - other.start)) {
    if (start > at && !isBlank(utf8, at, start)) return false;
    at = Math.max(at, end);
  }
  return isBlank(utf8, at, contentEnd);
}
