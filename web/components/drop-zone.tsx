/** A place for files: a press anywhere in it opens the choice, and it takes what is dropped, also without a script. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export interface DropZoneProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** It is the one thing to do on the page. @default false */
  readonly isMain?: boolean;
  /** Shows the names of the chosen files. @default false */
  readonly hasNames?: boolean;
  readonly name?: string;
  readonly accept?: string;
  readonly multiple?: boolean;
  readonly required?: boolean;
  readonly isInvalid?: boolean;
}

/** @param onFiles given the chosen files; the input keeps them for its form */
export function DropZone({
  id,
  label,
  hint,
  isMain = false,
  hasNames = false,
  isInvalid = false,
  onFiles,
  children,
  ...input
}: DropZoneProps & {
  onFiles?: ((files: readonly File[], input: HTMLInputElement) => void) | undefined;
  children?: ComponentChildren;
}) {
  const [isOver, setOver] = useState(false);
  const [names, setNames] = useState('');
  const choose = ({ currentTarget }: JSX.TargetedEvent<HTMLInputElement>) => {
    const files = [...(currentTarget.files ?? [])];
    setOver(false);
    setNames(files.map(({ name }) => name).join(', '));
    onFiles?.(files, currentTarget);
  };
  return (
    <div class={['drop', isMain && 'first', isOver && 'over'].filter(Boolean).join(' ')}>
      <Icon name="upload" size="l" />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {hasNames && (
        <p class="hint" role="status">
          <bdi>{names}</bdi>
        </p>
      )}
      {children}
      <input
        type="file"
        id={id}
        aria-invalid={isInvalid ? 'true' : undefined}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onDragEnter={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onChange={choose}
        {...input}
      />
    </div>
  );
}
