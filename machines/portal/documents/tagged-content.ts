/**
 * Marks and fields that tags in the text of the file place, and their replacement by those of a new version.
 *
 * Source: docs/decisions/0117-tags-in-the-text.md.
 */
import type { DocumentField, FieldPlace } from '../field-values.ts';
import type { FlowAction, Mark } from '../portal-types.ts';
import { conditionFault } from './flow-conditions.ts';
import { excessOf, hasDistinctFieldNames } from './flow-limits.ts';

/** Marks and fields that the tags of one file place. */
export interface TaggedContent {
  /** In the order of the flow; an action that is not named has nothing of tags. */
  readonly actions: readonly {
    readonly flowActionId: string;
    readonly marks: readonly Mark[];
    readonly fields: readonly DocumentField[];
  }[];
  /** Places of the tags. */
  readonly covers: readonly FieldPlace[];
}

/** Returns the flow with this content in place of the marks and fields that tags have placed before. */
export function withTaggedContent(
  actions: readonly FlowAction[],
  { actions: tagged }: Pick<TaggedContent, 'actions'>,
): readonly FlowAction[] {
  return actions.map(({ fields: before = [], ...action }) => {
    const given = tagged.find(({ flowActionId }) => flowActionId === action.id);
    const fields = [...before.filter((field) => field.tagged === undefined), ...(given?.fields ?? [])];
    return {
      ...action,
      marks: [...action.marks.filter(({ isTagged }) => isTagged !== true), ...(given?.marks ?? [])],
      ...(fields.length > 0 && { fields }),
    };
  });
}

/**
 * True if the flow can have this content: it has the actions, and is within its limits with it. An edit of the flow
 * may have been made since the tags were read.
 */
export function takesTaggedContent(actions: readonly FlowAction[], content: TaggedContent): boolean {
  const after = withTaggedContent(actions, content);
  return (
    content.actions.every(({ flowActionId }) => actions.some(({ id }) => id === flowActionId)) &&
    excessOf(after) === undefined &&
    hasDistinctFieldNames(after) &&
    conditionFault(after) === undefined
  );
}

/** Returns the mark without its origin, for copies of it. */
export function withoutOrigin({ isTagged: _, ...mark }: Mark): Mark {
  return mark;
}
