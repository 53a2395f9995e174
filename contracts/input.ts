/** Parses what clients send. Source: docs/portal-values.md §2. */
import type { z } from 'zod';
import { type BoundRefusal, MAX_FAULTS, REQUIRED, WITH_INPUT } from './fields.ts';

/** Maximum length of a member's name and of a sentence in a reply, characters. */
const MAX_NAME = 200;
const MAX_SENTENCE = 500;

/** Faults of a value: the refusal of a bound, if it has no others, or sentences by member. */
type InputFaults =
  | { readonly bound: BoundRefusal }
  | { readonly errors: { readonly [member: string]: readonly string[] } };

export type Read<T> = { readonly value: T } | { readonly faults: InputFaults };

/** Parses `value` by `schema`, whose messages continue `The <Name> field`; reports the first `MAX_FAULTS` faults. */
export function readInput<T>(schema: z.ZodType<T>, value: unknown): Read<T> {
  const result = schema.safeParse(value, WITH_INPUT);
  if (result.success) return { value: result.data };
  const { issues } = result.error;
  const [bound, ...others] = issues.map(boundRefusalOf);
  if (bound !== undefined && others.every((other) => other !== undefined)) return { faults: { bound } };
  // No prototype: a client may name a member `toString`.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of issues.slice(0, MAX_FAULTS)) {
    const member = memberName(issue.path).slice(0, MAX_NAME);
    errors[member] = [...(errors[member] ?? []), sentence(issue).slice(0, MAX_SENTENCE)];
  }
  return { faults: { errors } };
}

function boundRefusalOf(issue: z.core.$ZodIssue): BoundRefusal | undefined {
  return issue.code === 'custom' ? issue.params?.['refusal'] : undefined;
}

function sentence(issue: z.core.$ZodIssue): string {
  const isMissing = issue.code === 'invalid_type' && (issue.input === undefined || issue.input === null);
  const name = issue.path.findLast((step) => typeof step === 'string');
  const what = isMissing ? REQUIRED : issue.message;
  return name === undefined ? `The body ${what}.` : `The ${capital(String(name))} field ${what}.`;
}

/** `['files', 0, 'displayName']` → `Files[0].DisplayName`. */
function memberName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const step of path) {
    if (typeof step === 'number') name += `[${step}]`;
    else name += `${name === '' ? '' : '.'}${capital(String(step))}`;
  }
  return name;
}

function capital(name: string): string {
  return `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;
}
