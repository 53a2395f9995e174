/**
 * A dialog with the rights of users and groups on a folder, which are saved only over the version that was read.
 * Source: docs/decisions/0288-rights-on-folders.md.
 */
import type { FolderGrantsView, GranteeView } from '../../../../contracts/portal/folder-grants.ts';
import { Button } from '../../../components/controls.tsx';
import { counted, filled, type SenderTexts } from '../../../pages/portal/texts.ts';
import { type Opened, openDialog } from '../../dialogs.tsx';
import { focusElement } from '../../dom.ts';
import { CallFailed, call, failureText, type SenderSession } from './sender-requests.ts';

type Entry = FolderGrantsView['grants'][number];

const RIGHTS = ['Read', 'Send', 'Manage'] as const satisfies readonly Entry['right'][];

interface FolderShown {
  readonly id: string;
  /** Known folders, for their names. */
  readonly folders: readonly { readonly id: string; readonly name: string }[];
  readonly list: SenderTexts['list'];
}

/** Resolves when the dialog is closed: true when the rights were replaced. */
export function changeFolderAccess(session: SenderSession, folder: FolderShown): Promise<boolean> {
  return new FolderAccess(session, folder).ask();
}

class FolderAccess {
  readonly #path: string;
  readonly #opened: Opened;
  #read: FolderGrantsView | undefined;
  #entries: readonly Entry[] = [];
  #found: readonly GranteeView[] | undefined;
  #fault = '';
  #isRunning = false;
  #isSaved = false;

  constructor(
    private readonly session: SenderSession,
    private readonly folder: FolderShown,
  ) {
    const { id, list } = folder;
    this.#path = `/api/folders/${encodeURIComponent(id)}`;
    const title = filled(list.rights.title, { name: this.#nameOf(id) });
    this.#opened = openDialog(title, <p role="status">{list.waiting}</p>);
  }

  async ask(): Promise<boolean> {
    await this.#run(() => this.#load());
    if (this.#read !== undefined && this.#opened.dialog.open) this.#focus('[name="q"]');
    await this.#opened.closed;
    return this.#isSaved;
  }

  #nameOf(id: string): string {
    const { folders, list } = this.folder;
    return folders.find((one) => one.id === id)?.name ?? list.folder;
  }

  #focus(selector: string): void {
    focusElement(this.#opened.dialog.querySelector(selector));
  }

  #draw(): void {
    const { list } = this.folder;
    const { dialog } = this.#opened;
    this.#opened.draw(
      <>
        {this.#fault !== '' && (
          <p class="outcome bad" role="alert" tabIndex={-1}>
            {this.#fault}
          </p>
        )}
        {this.#read !== undefined && this.#grants(this.#read)}
        <div class="ways">
          {this.#read !== undefined && (
            <Button id="save-access" rank="main" onClick={() => void this.#save()}>
              {list.rights.save}
            </Button>
          )}
          <Button onClick={() => dialog.close()}>{list.back}</Button>
        </div>
      </>,
    );
  }

  #grants(read: FolderGrantsView) {
    const { rights: texts } = this.folder.list;
    return (
      <>
        <p>{this.#summary(read)}</p>
        {this.#entries.length > 0 && (
          // biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers.
          <ul class="rows" role="list">
            {this.#entries.map((entry) => this.#entryRow(entry))}
          </ul>
        )}
        <p class="hint">{texts.meaning}</p>
        {this.#searchForm()}
        <p class="hint" role="status">
          {this.#found !== undefined &&
            counted(document.documentElement.lang, texts.found, this.#found.length)}
        </p>
        {this.#found !== undefined && this.#found.length > 0 && (
          // biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers.
          <ul class="rows" role="list">
            {this.#found.map((one) => this.#foundRow(one))}
          </ul>
        )}
      </>
    );
  }

  #searchForm() {
    const { list } = this.folder;
    return (
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void this.#search(String(new FormData(event.currentTarget).get('q') ?? '').trim());
        }}
      >
        <label>
          {list.rights.find}
          <input name="q" type="search" maxLength={100} autoComplete="off" />
        </label>
        <Button type="submit" icon="search">
          {list.find}
        </Button>
      </form>
    );
  }

  #summary({ grants, inheritedFrom }: FolderGrantsView): string {
    const { rights: texts } = this.folder.list;
    if (this.#entries.length > 0) return texts.own;
    if (grants.length > 0) return texts.emptied;
    return inheritedFrom === null
      ? texts.everybody
      : filled(texts.around, { name: this.#nameOf(inheritedFrom) });
  }

  #entryRow(entry: Entry) {
    const { rights: texts } = this.folder.list;
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
            this.#entries = this.#entries.map((one) => (one === entry ? { ...entry, right } : one));
            this.#draw();
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
            this.#entries = this.#entries.filter((one) => one !== entry);
            this.#draw();
            this.#focus('[name="q"]');
          }}
        />
      </li>
    );
  }

  #foundRow(one: GranteeView) {
    const { rights: texts } = this.folder.list;
    return (
      <li key={one.id}>
        <Who of={one} name={one.name} group={texts.group} />
        <Button
          icon="plus"
          onClick={() => {
            this.#entries = [...this.#entries, { ...one, right: 'Read' }];
            this.#found = this.#found?.filter((other) => other !== one);
            this.#draw();
            this.#focus(`#right-${CSS.escape(one.id)}`);
          }}
        >
          {filled(texts.add, { name: one.name })}
        </Button>
      </li>
    );
  }

  /** One request at a time. */
  async #run(work: () => Promise<void>): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#fault = '';
    try {
      await work();
    } catch (error) {
      this.#fault = failureText(error, this.session);
    }
    this.#isRunning = false;
    if (!this.#opened.dialog.isConnected) return;
    this.#draw();
    if (this.#fault !== '') this.#focus('[role="alert"]');
  }

  async #load(): Promise<void> {
    this.#read = await call<FolderGrantsView>(this.session, 'GET', `${this.#path}/grants`);
    this.#entries = this.#read.grants;
  }

  #search(q: string): Promise<void> {
    return this.#run(async () => {
      const query = q === '' ? '' : `?${new URLSearchParams({ Q: q })}`;
      const path = `${this.#path}/grantees${query}`;
      const { items } = await call<{ readonly items: readonly GranteeView[] }>(this.session, 'GET', path);
      const has = (one: GranteeView) =>
        this.#entries.some((entry) => entry.type === one.type && entry.id === one.id);
      this.#found = items.filter((one) => !has(one));
    });
  }

  #save(): Promise<void> {
    const { rights: texts } = this.folder.list;
    return this.#run(async () => {
      // The service would refuse them, and without them the folder may be open to everybody: a person decides.
      if (this.#entries.some(({ name }) => name === '')) {
        this.#fault = texts.removeGone;
        return;
      }
      const grants = this.#entries.map(({ type, id: grantee, right }) => ({ type, id: grantee, right }));
      try {
        await call(this.session, 'PUT', `${this.#path}/grants`, { grants, version: this.#read?.version });
      } catch (error) {
        if (!(error instanceof CallFailed && error.code === 'GrantsChanged')) throw error;
        await this.#load();
        this.#fault = texts.changed;
        return;
      }
      this.#isSaved = true;
      this.#opened.dialog.close();
    });
  }
}

function Who({ of: { type, email }, name, group }: { of: GranteeView; name: string; group: string }) {
  return (
    <span>
      <bdi>{name}</bdi> <span class="muted small">{type === 'Group' ? group : <bdi>{email}</bdi>}</span>
    </span>
  );
}
