/** Components with a state of their own. The server renders their first state; `hydrateIslands` brings them to life. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from './controls.tsx';

/** @param tabs name and content; the first is shown */
export function Tabs({
  id,
  label,
  tabs,
}: {
  id: string;
  label: string;
  tabs: readonly { readonly name: string; readonly text: string }[];
}) {
  const [shown, show] = useState(0);
  const buttons = useRef<({ focus(): void } | null)[]>([]);
  const move = ({ key }: { key: string }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = (shown + step + tabs.length) % tabs.length;
    show(next);
    buttons.current[next]?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            ref={(element) => {
              buttons.current[index] = element;
            }}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={shown === index ? 'true' : 'false'}
            tabIndex={shown === index ? 0 : -1}
            onClick={() => show(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${shown}`}>
        {tabs[shown]?.text}
      </div>
    </div>
  );
}

/** A choice that filters a list; several may be pressed. */
export function Chips({ label, names }: { label: string; names: readonly string[] }) {
  const [pressed, press] = useState<readonly string[]>(names.slice(0, 1));
  const toggle = (name: string) =>
    press(pressed.includes(name) ? pressed.filter((other) => other !== name) : [...pressed, name]);
  return (
    <fieldset class="ways" aria-label={label}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={pressed.includes(name) ? 'true' : 'false'}
          onClick={() => toggle(name)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

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

/** A button that opens a dialog; Escape and the button at the top close it. */
export function DialogButton({
  id,
  open,
  title,
  close,
  children,
}: {
  id: string;
  open: string;
  title: string;
  close: string;
  children?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement | null>(null);
  return (
    <>
      <Button onClick={() => dialog.current?.showModal()}>{open}</Button>
      <DialogFrame
        id={id}
        title={title}
        keep={(element) => {
          dialog.current = element;
        }}
        header={<Button rank="quiet" icon="x" label={close} onClick={() => dialog.current?.close()} />}
      >
        {children}
      </DialogFrame>
    </>
  );
}

/** A button that shows a message about an action for a while. */
export function ToastButton({ label, text }: { label: string; text: string }) {
  const [shown, show] = useState(false);
  return (
    <>
      <Button onClick={() => show(!shown)}>{label}</Button>
      <div class="toasts" role="status" aria-live="polite">
        {shown && <p class="toast good">{text}</p>}
      </div>
    </>
  );
}
