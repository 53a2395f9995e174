/**
 * Marks and fields that tags in the text of a PDF place. Source: docs/fields.md.
 *
 * A tag is `{{type:who}}` for a mark, `{{type:who:name}}` for a field; `*` behind the type makes a field required, and
 * a last part such as `160x40` is the size in points.
 */

import { plainLine } from '../../../contracts/plain-text.ts';
import type { NewField, NewFlowAction, NewMark } from '../../../contracts/portal/flow.ts';
import type { FieldType, MarkType } from '../../../contracts/portal/words.ts';
import { type TaggedContent, withTaggedContent } from '../../../machines/portal/documents/tagged-content.ts';
import type { DocumentField, FieldPlace } from '../../../machines/portal/field-values.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ActionPlan, FlowAction, Mark } from '../../../machines/portal/portal-types.ts';
import type { TextTag } from '../../pool/portal-tasks.ts';
import { foldCase } from '../../shared/tables/texts.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { hasOneSigner } from './document-plans.ts';
import { assertConditions, assertFlowLimits, planFields } from './field-plans.ts';
import { planMarks } from './mark-plans.ts';

/** Tags of one file; ours. */
export const MAX_TEXT_TAGS = 500;
/** Most tags that a refusal names. */
const MAX_NAMED = 20;

interface Extent {
  readonly width: number;
  readonly height: number;
}

interface TagType {
  /** The mark of a tag without a name; absent = it needs a name. */
  readonly mark?: { readonly type: MarkType; readonly extent: Extent };
  /** The field of a tag with a name; absent = it has none. */
  readonly field?: { readonly type: FieldType; readonly extent: Extent };
}

const LINE = 16;
const TYPES: { readonly [type: string]: TagType } = {
  sig: { mark: { type: 'SignatureVisualRepresentation', extent: { width: 160, height: 40 } } },
  initials: {
    mark: { type: 'SignatureInitials', extent: { width: 60, height: 30 } },
    field: { type: 'Initials', extent: { width: 50, height: LINE } },
  },
  text: { field: { type: 'Text', extent: { width: 120, height: LINE } } },
  number: { field: { type: 'Number', extent: { width: 80, height: LINE } } },
  date: { field: { type: 'Date', extent: { width: 80, height: LINE } } },
  checkbox: { field: { type: 'Checkbox', extent: { width: LINE, height: LINE } } },
  attachment: { field: { type: 'Attachment', extent: { width: 160, height: LINE } } },
  choice: { field: { type: 'Choice', extent: { width: 120, height: LINE } } },
};

/** Marks and fields that tags add to one flow action. */
interface Added {
  readonly marks: NewMark[];
  readonly fields: NewField[];
}

interface ReadTag {
  readonly type: string;
  readonly isRequired: boolean;
  readonly who: string;
  /** Null for a mark. */
  readonly name: string | null;
  readonly extent: Extent | null;
}

/** Parts of an action that tags are matched with. */
type TagTarget = Pick<
  NewFlowAction,
  'type' | 'title' | 'user' | 'ruleName' | 'numberRequiredSignatures' | 'fields'
>;

type TagDependencies = Parameters<typeof planFields>[2] & {
  /** Of the file; undefined for an envelope. */
  readonly uploadId: string | undefined;
  /** Values of the sender for fields that the request does not list. */
  readonly tagValues?: CreateDocuments['tagValues'];
};

const TYPE = /^([a-z]+)(\*?)$/;
const SIZE = /^(\d{1,4})x(\d{1,4})$/;

/** A field that a tag places: it has neither a place nor a form field. Attachments need none. */
function isUnplaced({ type, topLeftX, topLeftY, width, height, formField }: NewField): boolean {
  if (type === 'Attachment') return false;
  return [topLeftX, topLeftY, width, height].every((one) => one == null) && !formField?.trim();
}

/** The actions without the fields that tags place; as they are for a request without tags. */
export function withoutTaggedFields({
  flowActions,
  textTags,
}: Pick<CreateDocuments, 'flowActions' | 'textTags'>): readonly NewFlowAction[] {
  if (textTags !== true) return flowActions;
  return flowActions.map((action) => {
    const fields = action.fields?.filter((field) => !isUnplaced(field));
    return fields === undefined || fields.length === action.fields?.length ? action : { ...action, fields };
  });
}

/**
 * Adds the marks and fields of tags to the plans of the actions. A field of the request that has the name of a tag and no
 * place gets its place. Refusals: `InvalidTextTag`, and those of plans.
 */
export function withTextTags(
  plans: readonly ActionPlan[],
  inputs: readonly NewFlowAction[],
  tags: readonly TextTag[],
  dependencies: TagDependencies,
): { readonly actions: readonly ActionPlan[]; readonly covers: readonly FieldPlace[] } {
  const planned = planTags(inputs, tags, dependencies);
  const actions = plans.map((plan, index): ActionPlan => {
    const { marks, fields } = planned[index] ?? { marks: [], fields: [] };
    return {
      ...plan,
      marks: [...plan.marks, ...marks],
      ...(fields.length > 0 && { fields: [...(plan.fields ?? []), ...fields] }),
    };
  });
  assertFlowLimits(actions);
  return { actions, covers: tags.map(({ cover }) => cover) };
}

/**
 * Plans marks and fields of the tags of a new version. Fields that the request of the document has listed without a
 * place keep their rules, and need a tag again. Refusals: `InvalidTextTag`, and those of plans.
 */
export function newTaggedContent(
  actions: readonly FlowAction[],
  tags: readonly TextTag[],
  dependencies: TagDependencies,
): TaggedContent {
  const planned = planTags(actions.map(targetOf), tags, dependencies);
  const content = {
    actions: actions.flatMap(({ id }, index) => {
      const { marks, fields } = planned[index] ?? { marks: [], fields: [] };
      return marks.length + fields.length === 0 ? [] : [{ flowActionId: id, marks, fields }];
    }),
    covers: tags.map(({ cover }) => cover),
  };
  const after = withTaggedContent(actions, content);
  assertFlowLimits(after);
  assertConditions(after);
  return content;
}

/** Returns the parts of a stored action that tags are matched with, as the request had them. */
function targetOf({ type, title, user, ruleName, numberRequiredSignatures, fields }: FlowAction): TagTarget {
  const listed = (fields ?? []).flatMap(({ tagged, ...field }): readonly NewField[] => {
    if (tagged?.isListed !== true) return [];
    const { name, label, maxLength, format, minimum, maximum, options, presetValue, isReadOnly } = field;
    const conditions = { shownWhen: field.shownWhen, requiredWhen: field.requiredWhen };
    const rules = { label, maxLength, format, minimum, maximum, options, ...conditions };
    const value = { value: presetValue, readOnly: isReadOnly };
    return [{ name, type: field.type, required: tagged.isRequired, ...rules, ...value }];
  });
  return { type, title, user, ruleName, numberRequiredSignatures, fields: listed };
}

/** Plans the marks and fields of tags by index of the action. */
function planTags(
  inputs: readonly TagTarget[],
  tags: readonly TextTag[],
  dependencies: TagDependencies,
): readonly { readonly marks: readonly Mark[]; readonly fields: readonly DocumentField[] }[] {
  const faults = new Map<string, string>();
  const added = inputs.map((): Added => ({ marks: [], fields: [] }));
  const names = inputs.map(namesOf);
  for (const tag of tags) {
    const fault = addTag(tag, inputs, { names, added, values: dependencies.tagValues ?? {} });
    if (fault !== undefined) faults.set(`{{${plainLine(tag.text)}}}`, fault);
  }
  for (const [index, { fields }] of inputs.entries()) {
    for (const { name, uploadId } of (fields ?? []).filter(isUnplaced)) {
      const isElsewhere = uploadId && uploadId.toLowerCase() !== dependencies.uploadId;
      const isPlaced = added[index]?.fields.some((field) => field.name === name.trim());
      if (!isElsewhere && isPlaced !== true) faults.set(name, 'The field has no place, and no tag names it.');
    }
  }
  if (faults.size > 0)
    throw new PortalRefusal('InvalidTextTag', undefined, {
      details: Object.fromEntries(
        [...faults].slice(0, MAX_NAMED).map(([name, fault]) => [name.slice(0, 100), fault]),
      ),
    });
  const whole = [{ uploadId: '', pagesBefore: 0, pages: undefined, lastPage: null }];
  return added.map(({ marks, fields }, index) => ({
    marks: planMarks(marks, whole).map((mark) => ({ ...mark, isTagged: true })),
    fields: planFields(fields, whole, dependencies).map((field): DocumentField => {
      const listed = listedField(inputs[index], field.name);
      const tagged = { isListed: listed !== undefined, isRequired: listed?.required === true };
      return { ...field, tagged };
    }),
  }));
}

/** The field of the request to which a tag of this name gives the place. */
function listedField(input: TagTarget | undefined, name: string): NewField | undefined {
  return input?.fields?.find((field) => isUnplaced(field) && field.name.trim() === name);
}

/** Returns the fault of a tag, in ASCII. */
function addTag(
  { text, place }: TextTag,
  inputs: readonly TagTarget[],
  {
    names,
    added,
    values,
  }: {
    readonly names: readonly ActionNames[];
    readonly added: readonly Added[];
    readonly values: NonNullable<CreateDocuments['tagValues']>;
  },
): string | undefined {
  const tag = readTag(text);
  if (tag === undefined) return 'A tag is {{type:who}} or {{type:who:name}}.';
  const type = TYPES[tag.type];
  if (type === undefined) return `The type is one of ${Object.keys(TYPES).join(', ')}.`;
  const index = actionOf(tag.who, names);
  if (typeof index === 'string') return index;
  const input = inputs[index];
  const own = added[index];
  const kind = input?.type ?? 'Signer';
  const isSigning = kind === 'Signer' || kind === 'SignRule';
  const hasFields = hasOneSigner({
    type: kind,
    numberRequiredSignatures: input?.numberRequiredSignatures ?? 1,
  });
  if (tag.name === null) {
    if (type.mark === undefined) return `A field needs a name, as in {{${tag.type}:who:name}}.`;
    if (tag.isRequired) return 'Only a field is made required.';
    if (!isSigning) return 'This participant approves and does not sign.';
    own?.marks.push({ type: type.mark.type, ...placed(place, tag.extent ?? type.mark.extent) });
    return undefined;
  }
  if (type.field === undefined) return 'A signature has no name.';
  if (!hasFields) return 'Only an action that one person signs has fields.';
  const { name } = tag;
  if (added.some(({ fields }) => fields.some((field) => field.name === name)))
    return 'Another tag has this name.';
  const given = listedField(input, name);
  if (given?.type && given.type !== type.field.type)
    return `The field of this name has the type ${given.type}.`;
  const { width, height } = type.field.extent;
  const isBox = type.field.type === 'Checkbox';
  const extent = tag.extent ?? { width: isBox ? width : Math.max(width, place.width), height };
  own?.fields.push({
    ...(given ?? (Object.hasOwn(values, name) && { value: values[name] })),
    name,
    type: type.field.type,
    required: tag.isRequired || given?.required === true,
    ...placed(place, extent),
    uploadId: undefined,
  });
  return undefined;
}

/** Returns the fields of tags, by name. */
export function taggedFields(tags: readonly TextTag[]): ReadonlyMap<string, FieldType> {
  const found = new Map<string, FieldType>();
  for (const { text } of tags) {
    const { name, type } = readTag(text) ?? {};
    const field = type === undefined ? undefined : TYPES[type]?.field;
    if (name != null && field !== undefined && !found.has(name)) found.set(name, field.type);
  }
  return found;
}

/** Parses a tag; undefined for other text. */
function readTag(text: string): ReadTag | undefined {
  const [first = '', who = '', ...rest] = plainLine(text)
    .split(':')
    .map((part) => part.trim());
  const [, type, star] = TYPE.exec(first.toLowerCase()) ?? [];
  const size = SIZE.exec(rest.at(-1) ?? '');
  const names = size === null ? rest : rest.slice(0, -1);
  if (type === undefined || who === '' || names.length > 1 || names[0] === '') return undefined;
  return {
    type,
    isRequired: star === '*',
    who,
    name: names[0] ?? null,
    extent: size === null ? null : { width: Number(size[1]), height: Number(size[2]) },
  };
}

/** Names of an action for comparisons. */
interface ActionNames {
  readonly titles: readonly string[];
  readonly participants: readonly string[];
}

/** Computed once for all tags of a file. */
function namesOf({ title, user, ruleName }: TagTarget): ActionNames {
  const foldedNames = (names: readonly (string | null | undefined)[]) =>
    names.flatMap((name) => (name ? [foldCase(name.trim())] : []));
  return { titles: foldedNames([title]), participants: foldedNames([user?.name, user?.email, ruleName]) };
}

/** Returns the index of the action that a tag names by its title, else by the participant; or the fault, in ASCII. */
function actionOf(who: string, names: readonly ActionNames[]): number | string {
  const wanted = foldCase(who);
  const having = (kind: keyof ActionNames) =>
    names.flatMap((own, index) => (own[kind].includes(wanted) ? [index] : []));
  const titled = having('titles');
  const found = titled.length > 0 ? titled : having('participants');
  if (found.length > 1) return 'Several flow actions have this title or participant.';
  return found[0] ?? 'No flow action has this title or participant.';
}

/** Places a mark or field on the lower edge of the tag's text, because texts print tags on a line to sign or fill in. */
function placed({ topLeftX, topLeftY, height, pageNumber }: TextTag['place'], extent: Extent): FieldPlace {
  return { ...extent, topLeftX, topLeftY: Math.max(0, topLeftY + height - extent.height), pageNumber };
}
