/** Actions on the selected rows of a list. */
import type { ComponentChildren } from 'preact';
import { Button } from './controls.tsx';

/**
 * Stays in view while rows are selected. Its buttons are not disabled, because they would lose the focus.
 * @param text what is selected, or what became of it; empty: nothing is
 */
export function SelectionBar({
  label,
  text,
  clear,
  onClear,
  children,
}: {
  label: string;
  text: string;
  clear: string;
  onClear: () => void;
  children: ComponentChildren;
}) {
  return (
    <section class="selection" aria-label={label} hidden={text === ''}>
      <p role="status">{text}</p>
      {children}
      <Button rank="quiet" icon="x" label={clear} onClick={onClear} />
    </section>
  );
}
