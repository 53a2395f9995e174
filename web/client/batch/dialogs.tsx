/** Questions to the operator in dialogs, and the progress of retrying or canceling many jobs. */
import type { VNode } from 'preact';
import type { Operation, OperationCount } from '../../../clients/typescript/batch.d.ts';
import { Button } from '../../components/controls.tsx';
import { Progress } from '../../components/surfaces.tsx';
import { counted } from '../../pages/batch/parts.tsx';
import { openDialog } from '../dialogs.tsx';
import { delay, requireElement } from '../dom.ts';
import { getJson, post, problemOf, toast } from './api.ts';

/** Asks for a reason; undefined when the person goes back, empty without a reason. */
export async function promptReason(
  title: string,
  confirm: string,
  { required = false }: { required?: boolean } = {},
): Promise<string | undefined> {
  let reason = '';
  const isConfirmed = await ask(
    title,
    confirm,
    <label>
      {required ? 'Reason' : 'Reason (optional)'}
      <input
        name="reason"
        maxLength={512}
        autoComplete="off"
        required={required}
        onInput={({ currentTarget }) => {
          reason = currentTarget.value;
        }}
      />
    </label>,
  );
  return isConfirmed ? reason : undefined;
}

/** Asks with two buttons. Resolves with true for the button `confirm`. */
export async function ask(title: string, confirm: string, content?: VNode): Promise<boolean> {
  const opened = openDialog(
    title,
    <form method="dialog" class="stack">
      {content}
      <div class="ways">
        <Button type="submit" value="yes" rank="main">
          {confirm}
        </Button>
        <Button onClick={() => opened.dialog.close()}>Back</Button>
      </div>
    </form>,
  );
  return (await opened.closed) === 'yes';
}

/** See `POST /api/operations`. */
export interface OperationFilter {
  readonly [member: string]: string | readonly string[];
}

const POLL_MS = 500;
const ENDED = new Set(['Completed', 'Canceled', 'Failed']);

/** Asks, starts the operation and shows its progress. Resolves when it has ended or the person closes the dialog. */
export async function confirmOperation(action: 'retry' | 'cancel', filter: OperationFilter): Promise<void> {
  try {
    const request = { action, filter };
    const { matched } = await post<OperationCount>('/api/operations', { ...request, dryRun: true });
    if (matched === 0) {
      toast('ok', `There is no job to ${action}.`);
      return;
    }
    const word = action === 'retry' ? 'Retry' : 'Cancel';
    const jobs = counted(matched, 'job', 'jobs');
    const reason = await promptReason(`${word} ${jobs}?`, `${word} ${jobs}`);
    if (reason === undefined) return;
    const operation = await post<Operation>('/api/operations', {
      ...request,
      ...(reason === '' ? {} : { reason }),
    });
    await showProgress(`${word} ${jobs}`, operation);
  } catch (error) {
    const problem = problemOf(error);
    toast(problem.code, problem.message);
  }
}

async function showProgress(title: string, started: Operation): Promise<void> {
  let isClosed = false;
  const { id } = started;
  const content = (operation: Operation, fault = '') => {
    const { state, matched, done, skipped } = operation;
    return (
      <div class="stack">
        <Progress done={done + skipped} of={matched} label={title} />
        <p role="status">{fault || `${done} of ${matched} done, ${skipped} skipped. ${state}.`}</p>
        <div class="ways">
          <Button hidden={ENDED.has(state)} onClick={() => void stop(operation)}>
            Stop
          </Button>
          <Button id="close-operation" onClick={() => opened.dialog.close()}>
            Close
          </Button>
        </div>
      </div>
    );
  };
  const opened = openDialog(title, content(started));
  const stop = (operation: Operation) =>
    post(`/api/operations/${id}/cancel`).catch((error: unknown) =>
      opened.draw(content(operation, problemOf(error).message)),
    );
  const poll = async (last: Operation) => {
    if (isClosed) return;
    let operation = last;
    try {
      operation = await getJson<Operation>(`/api/operations/${id}`);
      if (!isClosed) opened.draw(content(operation));
    } catch (error) {
      if (!isClosed) opened.draw(content(operation, problemOf(error).message));
    }
    // A hidden button loses the focus.
    if (!isClosed && document.activeElement === document.body) requireElement('#close-operation').focus();
    if (!ENDED.has(operation.state)) delay(POLL_MS, () => void poll(operation));
  };
  void poll(started);
  await opened.closed;
  isClosed = true;
}
