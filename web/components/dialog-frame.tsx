/** A dialog, which scripts open. */
import type { ComponentChildren } from 'preact';

/** A dialog with a title. @param header beside the title; @param keep gets the element */
export function DialogFrame({
  id,
  title,
  header,
  keep,
  children,
}: {
  id: string;
  title: string;
  header?: ComponentChildren;
  keep?: (element: HTMLDialogElement | null) => void;
  children?: ComponentChildren;
}) {
  return (
    <dialog class="dialog" id={id} aria-labelledby={`${id}-title`} {...(keep && { ref: keep })}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {header}
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}
