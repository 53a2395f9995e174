/** Questions to people in dialogs. */
import { render, type VNode } from 'preact';
import { Button } from '../components/controls.tsx';
import { DialogFrame } from '../components/dialog-frame.tsx';
import { createElement, focusElement, requireElement, returnFocus } from './dom.ts';

export interface Opened {
  readonly dialog: HTMLDialogElement;
  /** Draws the dialog anew with other content. */
  draw(content: VNode): void;
  /** Resolves when it has closed and the focus is back, with the value of the button that closed it. */
  readonly closed: Promise<string>;
}

export function openDialog(title: string, content: VNode): Opened {
  const before = document.activeElement;
  const place = createElement('div');
  document.body.append(place);
  const draw = (inner: VNode) =>
    render(
      <DialogFrame id="dialog" title={title}>
        {inner}
      </DialogFrame>,
      place,
    );
  draw(content);
  const dialog = requireElement('dialog', HTMLDialogElement, place);
  const closed = new Promise<string>((resolve) => {
    dialog.addEventListener('close', () => {
      render(null, place);
      place.remove();
      if (before !== null && before !== document.body) returnFocus(before);
      resolve(dialog.returnValue);
    });
  });
  dialog.showModal();
  return { dialog, draw, closed };
}

/** A refusal about one field of a form. */
export interface FieldFault {
  /** Undefined: it is about the whole. */
  readonly field?: string | undefined;
  readonly text: string;
}

/** A form in a dialog, which stays open until what it asks for is done. */
export interface FormDialog {
  readonly title: string;
  readonly confirm: string;
  readonly back: string;
  readonly isDestructive?: boolean;
  /** The fields; each shows a fault that is about it. */
  content(fault: FieldFault | undefined): VNode;
  /** Does it. Resolves with what is wrong, undefined on success. */
  submit(entered: FormData): Promise<FieldFault | undefined>;
}

/** Resolves with true when it is done, with false when the person goes back. */
export async function askForm({
  title,
  confirm,
  back,
  content,
  submit,
  isDestructive = false,
}: FormDialog): Promise<boolean> {
  let isRunning = false;
  let isDone = false;
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isRunning) return;
    isRunning = true;
    const fault = await submit(new FormData(event.currentTarget as HTMLFormElement));
    isRunning = false;
    if (fault === undefined) {
      isDone = true;
      opened.dialog.close();
      return;
    }
    opened.draw(form(fault));
    const field = fault.field === undefined ? null : opened.dialog.querySelector(`[name="${fault.field}"]`);
    focusElement(field ?? opened.dialog.querySelector('[role="alert"]'));
  };
  const form = (fault?: FieldFault) => (
    <form class="stack" noValidate onSubmit={(event) => void send(event)}>
      {fault !== undefined && fault.field === undefined && (
        <p class="outcome bad" role="alert" tabIndex={-1}>
          {fault.text}
        </p>
      )}
      {content(fault)}
      <div class="ways">
        <Button type="submit" rank={isDestructive ? 'bad' : 'main'}>
          {confirm}
        </Button>
        <Button onClick={() => opened.dialog.close()}>{back}</Button>
      </div>
    </form>
  );
  const opened = openDialog(title, form());
  await opened.closed;
  return isDone;
}
