/** Buttons and form fields. */
import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

/** `main`: the one primary action of a view; `bad`: destroys something; `quiet`: without a frame. */
export type Rank = 'main' | 'bad' | 'quiet';

interface Look {
  readonly rank?: Rank;
  /** 48 px high. */
  readonly big?: boolean;
  readonly icon?: IconName;
  /** The label of a button that shows its icon only. */
  readonly label?: string;
  readonly children?: ComponentChildren;
}

function classes({ rank, big, label }: Look, base: string): string | undefined {
  const list = [base, rank, big === true ? 'big' : '', label === undefined ? '' : 'square'];
  return list.filter(Boolean).join(' ') || undefined;
}

export function Button({
  rank,
  big,
  icon,
  label,
  children,
  type = 'button',
  ...more
}: Look &
  Omit<JSX.IntrinsicElements['button'], 'class' | 'icon' | 'label'> & { type?: 'button' | 'submit' }) {
  return (
    <button type={type} class={classes({ rank, big, label } as Look, '')} aria-label={label} {...more}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  rank,
  big,
  icon,
  children,
  ...more
}: Look & { href: string; download?: boolean }) {
  return (
    <a class={classes({ rank, big } as Look, 'button')} {...more}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** Parts of a field besides its control. Hint and error are read with it. */
interface Labelled {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  /** Says what is wrong with the value. */
  readonly error?: string | undefined;
}

function Around({ id, label, hint, error, children }: Labelled & { children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          <Icon name="circle-alert" size="s" />
          {error}
        </p>
      )}
    </div>
  );
}

/** Attributes by which a control refers to its hint and its error. */
function marks({ id, hint, error }: Labelled) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return {
    id,
    'aria-describedby': described || undefined,
    'aria-invalid': error === undefined ? undefined : ('true' as const),
  };
}

type Native<Element extends keyof JSX.IntrinsicElements> = Omit<
  JSX.IntrinsicElements[Element],
  'id' | 'label' | 'children'
>;

/** A labelled text field. */
export function Field({ id, label, hint, error, ...input }: Labelled & Native<'input'>) {
  const parts = { id, label, hint, error };
  return (
    <Around {...parts}>
      <input {...marks(parts)} {...input} />
    </Around>
  );
}

/** A labelled text field of several lines. */
export function TextArea({ id, label, hint, error, ...area }: Labelled & Native<'textarea'>) {
  const parts = { id, label, hint, error };
  return (
    <Around {...parts}>
      <textarea {...marks(parts)} {...area} />
    </Around>
  );
}

/** A labelled choice. @param options value and text of each */
export function Select({
  id,
  label,
  hint,
  error,
  options,
  value,
  ...select
}: Labelled & Native<'select'> & { options: readonly (readonly [value: string, text: string])[] }) {
  const parts = { id, label, hint, error };
  return (
    <Around {...parts}>
      <select {...marks(parts)} value={value} {...select}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Around>
  );
}

/** Boxes under one name. */
export function Boxes({
  legend,
  hint,
  boxes,
}: {
  legend: ComponentChildren;
  hint?: ComponentChildren;
  boxes: readonly {
    readonly name: string;
    readonly text: ComponentChildren;
    readonly checked: boolean;
  }[];
}) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {hint && <p class="hint">{hint}</p>}
      <div>
        {boxes.map(({ name, text, checked }) => (
          <label key={name} class="tick">
            <input type="checkbox" name={name} value="yes" checked={checked} /> {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Says above a form which of its fields are at fault. @param faults id and label of each field, in the order of the page */
export function FaultSummary({
  title,
  faults,
}: {
  title: string;
  faults: readonly (readonly [id: string, label: string])[];
}) {
  return (
    <div class="outcome bad fault-summary" role="group" aria-labelledby="fault-summary">
      <Icon name="circle-alert" />
      <div>
        <strong id="fault-summary">{title}</strong>
        <ul>
          {faults.map(([id, label]) => (
            <li key={id}>
              <a href={`#${id}`}>{label}</a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
