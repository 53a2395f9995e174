/** A dialog with the rights of users and groups on a folder. Source: docs/decisions/0288-rights-on-folders.md. */
import type { FolderGrantsView, GranteeView } from '../../../../contracts/portal/folder-grants.ts';
import { Button } from '../../../components/controls.tsx';
import { counted, filled, type SenderTexts, textBy } from '../../../pages/portal/texts.ts';
import { openDialog } from '../../dialogs.tsx';
import { focusElement } from '../../dom.ts';
import { CallFailed, call, type SenderSession } from './sender-requests.ts';

type Entry = FolderGrantsView['grants'][number];

const RIGHTS = ['Read', 'Send', 'Manage'] as const satisfies readonly Entry['right'][];

interface FolderShown {
  readonly id: string;
  /** Known folders, for their names. */
  readonly folders: readonly { readonly id: string; readonly name: string }[];
  readonly list: SenderTexts['list'];
}

/** Resolves when the dialog is closed: true when the rights were replaced. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a dialog with its parts.
export async function changeFolderAccess(
  session: SenderSession,
  { id, folders, list }: FolderShown,
): Promise<boolean> {
  const { rights: texts } = list;
  const path = `/api/folders/${encodeURIComponent(id)}`;
  const nameOf = (folder: string) => folders.find((one) => one.id === folder)?.name ?? list.folder;
  let read: FolderGrantsView | undefined;
  let entries: readonly Entry[] = [];
  let found: readonly GranteeView[] | undefined;
  let fault = '';
  let isRunning = false;
  let isSaved = false;

  const opened = openDialog(filled(texts.title, { name: nameOf(id) }), <p role="status">{list.waiting}</p>);
  const { dialog } = opened;

  const draw = () => opened.draw(view());
  const focus = (selector: string) => focusElement(dialog.querySelector(selector));
  const view = () => (
    <>
      {fault !== '' && (
        <p class="outcome bad" role="alert" tabIndex={-1}>
          {fault}
        </p>
      )}
      {read !== undefined && (
        <>
          <p>{summary(read)}</p>
          {entries.length > 0 && (
            // biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers.
            <ul class="rows" role="list">
              {entries.map(entryRow)}
            </ul>
          )}
          <p class="hint">{texts.meaning}</p>
          <form
            class="filters"
            role="search"
            onSubmit={(event) => {
              event.preventDefault();
              void search(String(new FormData(event.currentTarget).get('q') ?? '').trim());
            }}
          >
            <label>
              {texts.find}
              <input name="q" type="search" maxLength={100} autoComplete="off" />
            </label>
            <Button type="submit" icon="search">
              {list.find}
            </Button>
          </form>
          <p class="hint" role="status">
            {found !== undefined && counted(document.documentElement.lang, texts.found, found.length)}
          </p>
          {found !== undefined && found.length > 0 && (
            // biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers.
            <ul class="rows" role="list">
              {found.map(foundRow)}
            </ul>
          )}
        </>
      )}
      <div class="ways">
        {read !== undefined && (
          <Button id="save-access" rank="main" onClick={() => void save()}>
            {texts.save}
          </Button>
        )}
        <Button onClick={() => dialog.close()}>{list.back}</Button>
      </div>
    </>
  );

  function summary({ grants, inheritedFrom }: FolderGrantsView): string {
    if (entries.length > 0) return texts.own;
    if (grants.length > 0) return texts.emptied;
    return inheritedFrom === null ? texts.everybody : filled(texts.around, { name: nameOf(inheritedFrom) });
  }

  function entryRow(entry: Entry) {
    const name = entry.name === '' ? texts.gone : entry.name;
    return (
      <li key={entry.id}>
        <Who of={entry} name={name} group={texts.group} />
        <select
          id={`right-${entry.id}`}
          aria-label={filled(texts.rightOf, { name })}
          value={entry.right}
          onChange={({ currentTarget: { value } }) => {
            const right = RIGHTS.find((one) => one === value) ?? entry.right;
            entries = entries.map((one) => (one === entry ? { ...entry, right } : one));
            draw();
          }}
        >
          {RIGHTS.map((right) => (
            <option key={right} value={right} selected={right === entry.right}>
              {texts.names[right]}
            </option>
          ))}
        </select>
        <Button
          rank="quiet"
          icon="trash-2"
          label={filled(texts.remove, { name })}
          onClick={() => {
            entries = entries.filter((one) => one !== entry);
            draw();
            focus('[name="q"]');
          }}
        />
      </li>
    );
  }

  function foundRow(one: GranteeView) {
    return (
      <li key={one.id}>
        <Who of={one} name={one.name} group={texts.group} />
        <Button
          icon="plus"
          onClick={() => {
            entries = [...entries, { ...one, right: 'Read' }];
            found = found?.filter((other) => other !== one);
            draw();
            focus(`#right-${CSS.escape(one.id)}`);
          }}
        >
          {filled(texts.add, { name: one.name })}
        </Button>
      </li>
    );
  }

  /** One request at a time. */
  async function run(work: () => Promise<void>): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    fault = '';
    try {
      await work();
    } catch (error) {
      fault = textOf(error, session);
    }
    isRunning = false;
    if (!dialog.isConnected) return;
    draw();
    if (fault !== '') focus('[role="alert"]');
  }

  async function load(): Promise<void> {
    read = await call<FolderGrantsView>(session, 'GET', `${path}/grants`);
    entries = read.grants;
  }

  function search(q: string): Promise<void> {
    return run(async () => {
      const query = q === '' ? '' : `?${new URLSearchParams({ Q: q })}`;
      const { items } = await call<{ readonly items: readonly GranteeView[] }>(
        session,
        'GET',
        `${path}/grantees${query}`,
      );
      const has = (one: GranteeView) =>
        entries.some((entry) => entry.type === one.type && entry.id === one.id);
      found = items.filter((one) => !has(one));
    });
  }

  function save(): Promise<void> {
    return run(async () => {
      // The service would refuse them, and without them the folder may be open to everybody: a person decides.
      if (entries.some(({ name }) => name === '')) {
        fault = texts.removeGone;
        return;
      }
      const grants = entries.map(({ type, id: grantee, right }) => ({ type, id: grantee, right }));
      try {
        await call(session, 'PUT', `${path}/grants`, { grants, version: read?.version });
      } catch (error) {
        if (!(error instanceof CallFailed && error.code === 'GrantsChanged')) throw error;
        await load();
        fault = texts.changed;
        return;
      }
      isSaved = true;
      dialog.close();
    });
  }

  await run(load);
  if (read !== undefined && dialog.open) focus('[name="q"]');
  await opened.closed;
  return isSaved;
}

function Who({ of: { type, email }, name, group }: { of: GranteeView; name: string; group: string }) {
  return (
    <span>
      <bdi>{name}</bdi> <span class="muted small">{type === 'Group' ? group : <bdi>{email}</bdi>}</span>
    </span>
  );
}

function textOf(error: unknown, { words }: SenderSession): string {
  if (!(error instanceof CallFailed)) return words.failed;
  return textBy(error.code, words.refusals) ?? error.message;
}
