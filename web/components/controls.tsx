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
}: Look & Omit<JSX.IntrinsicElements['button'], 'icon' | 'label'> & { readonly type?: 'button' | 'submit' }) {
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
}: Look & { readonly href: string; readonly download?: boolean }) {
  return (
    <a class={classes({ rank, big } as Look, 'button')} {...more}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** A labelled text field. The hint and the error are read with it. */
export function Field({
  id,
  label,
  hint,
  error,
  ...input
}: {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
} & JSX.IntrinsicElements['input']) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        aria-describedby={described || undefined}
        aria-invalid={error === undefined ? undefined : 'true'}
        {...input}
      />
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
