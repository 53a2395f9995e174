/** Keeps the document in the editor: as a draft after each change, as documents that are sent, or as a template. */
import { below, currentTime, delay, findElement } from '../../dom.ts';
import { faultsOf } from './editor-faults.ts';
import type { EditorPage } from './editor-page.ts';
import { call, tellPage } from './sender-requests.ts';

/** Pause after the last change before the draft is saved, milliseconds. */
const SAVE_PAUSE_MS = 800;

export class EditorSaving {
  #draftId: string | undefined;
  /** Content as it was loaded or last saved. */
  #saved: string;
  /** Content of the draft whose sending has begun. A repeated call does not save it again: a sent draft cannot be saved. */
  #sending = '';
  #cancel: () => void = () => {};
  /** Saves run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly page: EditorPage) {
    this.#draftId = page.data.draft?.id;
    this.#saved = this.#content();
    page.onChange = () => this.#changed();
    // A page that is left or put away for a while may be ended by the system.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') void this.save();
    });
  }

  #content(): string {
    const { page } = this;
    return JSON.stringify(page.isTemplate ? [page.request(), page.template] : page.request());
  }

  get isChanged(): boolean {
    return this.#content() !== this.#saved;
  }

  #changed(): void {
    const { page } = this;
    this.#cancel();
    if (!this.isChanged) {
      window.removeEventListener('beforeunload', this.#confirmLeaving);
      return;
    }
    // Pages that always listen are not kept for the back button.
    window.addEventListener('beforeunload', this.#confirmLeaving);
    if (page.isTemplate) return;
    const { saved } = page;
    if (saved.state !== 'failed')
      page.saved = { state: 'changed', ...('time' in saved && { time: saved.time }) };
    this.#cancel = delay(SAVE_PAUSE_MS, () => void this.save());
  }

  /** Asks before unsaved entries are lost. */
  readonly #confirmLeaving = (event: BeforeUnloadEvent): void => {
    if (this.isChanged) event.preventDefault();
  };

  /** Saves the draft if it has changed. A failure is shown beside the title. */
  save(): Promise<void> {
    const { page } = this;
    if (page.isTemplate) return Promise.resolve();
    const saving = this.#last.then(async () => {
      this.#cancel();
      if (!this.isChanged || page.isBusy) return;
      try {
        await this.#saveDraft();
      } catch (error) {
        this.#failed(error);
      }
      page.show();
    });
    this.#last = saving;
    return saving;
  }

  #failed(error: unknown): void {
    const { page } = this;
    page.saved = { state: 'failed', reason: error instanceof Error ? error.message : page.words.failed };
    tellPage('failed', error);
  }

  async #saveDraft(): Promise<void> {
    const { page } = this;
    this.#sending = '';
    const document = page.request();
    const content = JSON.stringify(document);
    const name = document.files?.[0]?.displayName ?? page.words.person.replace('{number}', '');
    const body = { name: name.slice(0, 200), document };
    if (this.#draftId === undefined) {
      const made = await call<{ readonly id: string }>(page.data, 'POST', '/api/document-drafts', body);
      this.#draftId = made.id;
      this.showAddress();
    } else {
      await call(page.data, 'PUT', this.#path(), body);
    }
    this.#saved = content;
    const time = new Intl.DateTimeFormat(globalThis.document.documentElement.lang, { timeStyle: 'short' });
    // The person may have gone on editing meanwhile: then another save follows.
    const state = this.isChanged ? 'changed' : 'saved';
    page.saved = { state, time: time.format(currentTime()) };
    if (state === 'changed') return;
    window.removeEventListener('beforeunload', this.#confirmLeaving);
    tellPage('saved', this.#draftId);
  }

  /** Saves now; tells the page around the editor also when nothing has changed. */
  async saveNow(): Promise<void> {
    const hasChanged = this.isChanged;
    await this.save();
    if (!hasChanged) tellPage('saved', this.#draftId);
  }

  #path(): string {
    return this.page.data.draftPath ?? `/api/document-drafts/${encodeURIComponent(this.#draftId ?? '')}`;
  }

  /** The address of this step: a reload, and the buttons back and forward of the browser, find it again. */
  showAddress(isNew = false): void {
    const { page } = this;
    const path =
      this.#draftId === undefined || page.data.draftPath !== undefined
        ? ''
        : below(`/account/documents/drafts/${encodeURIComponent(this.#draftId)}${location.search}`);
    const address = `${path}#${page.step}`;
    if (isNew) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
  }

  /** True: the document has everything that it needs; otherwise the page marks what is missing. */
  isComplete(asTemplate: boolean): boolean {
    const { page } = this;
    return page.mark(faultsOf(page.model, today(), asTemplate ? page.template.name : undefined));
  }

  async send(): Promise<void> {
    if (!this.isComplete(false)) return;
    const { page } = this;
    await this.#run(async () => {
      const content = this.#content();
      if (content !== this.#sending) await this.#saveDraft();
      this.#sending = content;
      type Made = readonly { readonly documentId: string }[];
      const made = await call<Made>(page.data, 'POST', `${this.#path()}/send`, {});
      this.#saved = this.#content();
      window.removeEventListener('beforeunload', this.#confirmLeaving);
      // The page of a session in another application has no list of documents to lead to.
      if (!tellPage('sent', made)) return;
      const [first] = made;
      const path = made.length === 1 && first ? `/${encodeURIComponent(first.documentId)}?done=sent` : '';
      location.assign(below(`/account/documents${path}`));
    });
  }

  async saveTemplate(): Promise<void> {
    if (!this.isComplete(true)) return;
    const { page } = this;
    await this.#run(async () => {
      const { name, description, days } = page.template;
      const body = {
        name: name.trim(),
        description: description.trim() || null,
        expirationDays: days > 0 ? days : null,
        document: page.request(),
      };
      let id = page.data.template?.id;
      if (id === undefined)
        id = (await call<{ readonly id: string }>(page.data, 'POST', '/api/templates', body)).id;
      else await call(page.data, 'PUT', `/api/templates/${encodeURIComponent(id)}`, body);
      this.#saved = this.#content();
      window.removeEventListener('beforeunload', this.#confirmLeaving);
      location.assign(below(`/account/templates/${encodeURIComponent(id)}?done=saved`));
    });
  }

  /** Runs one action at a time and shows its failure. */
  async #run(action: () => Promise<void>): Promise<void> {
    const { page } = this;
    if (page.isBusy) return;
    page.isBusy = true;
    page.notice = { kind: 'busy', text: page.words.sending };
    page.show();
    await this.#last;
    try {
      await action();
    } catch (error) {
      page.notice = { kind: 'bad', text: error instanceof Error ? error.message : page.words.failed };
      tellPage('failed', error);
    }
    page.isBusy = false;
    page.show();
    if (page.notice?.kind === 'bad') findElement('#outcome')?.focus();
  }
}

/** The day of the person's clock, `YYYY-MM-DD`. */
function today(): string {
  const now = new Date(currentTime());
  const two = (number: number) => String(number).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
