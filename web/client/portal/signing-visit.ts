/** The end of a visit: by the action of the participant, or by another window, the sender or time. */
import type { SigningData, StateData } from '../../pages/portal/page-data.ts';
import { below, delay, findElement, parseHtml, requireElement } from '../dom.ts';
import { showFinished } from './outcome.ts';
import { notifyParent, sendEvent } from './parent-window.ts';
import { unanswered } from './requests.ts';
import { startState } from './state.ts';

/** Usual maximum time for adding a signature to a long document. */
const MAX_POLLS = 20;
/** Interval between attempts, milliseconds. */
const POLL_INTERVAL_MS = 1_500;

/** States of the page of a person who has acted. */
const ACTED: ReadonlySet<string> = new Set(['done', 'concluded', 'processing', 'signed-here']);

export class SigningVisit {
  /** True when the participant has acted, or the visit has ended elsewhere. */
  #isOver = false;

  constructor(
    private readonly data: SigningData,
    private readonly needs: {
      /** An action is on its way. */
      isBusy(): boolean;
      /** Closes what the participant has open. */
      close(): void;
      /** Forgets what was typed. */
      forget(): void;
    },
  ) {}

  /** Looks at the end when an action was refused because of it, and when the participant comes back to the page. */
  watch(): void {
    document.addEventListener('visit-over', () => void this.#showEnd());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible' && !this.#isOver && !this.needs.isBusy())
        void this.#showEnd();
    });
  }

  signed(text = this.data.words.signed): void {
    this.done(text, 'documentSigned');
  }

  /** Shows the result of an action and reports it to the parent window. */
  done(text: string, type: 'documentSigned' | 'documentApproved' | 'documentRefused'): void {
    this.needs.forget();
    this.needs.close();
    this.#isOver = true;
    showFinished(text);
    const { documentId: id, embedOrigins, redirectUrl } = this.data;
    notifyParent({ type, id }, embedOrigins);
    sendEvent({ type: type === 'documentRefused' ? 'refused' : 'signed', id }, embedOrigins);
    void this.#showDone().then((isOver) => {
      if (!isOver) return;
      sendEvent({ type: 'closed', id }, embedOrigins);
      if (redirectUrl === null || type === 'documentRefused') return;
      // The last document of a visit leads to the organization.
      if (findElement('.visit > li:not([data-done])') === undefined) location.assign(redirectUrl);
    });
  }

  /**
   * Shows the page as it is once the action is in the document. On errors the page stays unchanged. Resolves with true when
   * nothing is left to do.
   */
  async #showDone(): Promise<boolean> {
    const { words } = this.data;
    for (let look = 1; look <= MAX_POLLS; look += 1) {
      const now = await this.#currentPage();
      const state = now && stateOf(now);
      if (now === undefined || state === undefined) return false;
      if (state !== 'processing') {
        const outcome = requireElement('#outcome');
        document.title = now.title;
        document.body.className = now.body.className;
        this.#replaceMain(now.querySelector('main'));
        requireElement('h1').after(outcome);
        // The title says it already.
        outcome.classList.toggle(
          'unseen',
          [words.signed, words.approved].includes(outcome.textContent ?? ''),
        );
        outcome.focus();
        const given = now.querySelector('#page-data')?.textContent;
        startState(given ? (JSON.parse(given) as StateData) : {});
        return true;
      }
      await new Promise<void>((resolve) => delay(POLL_INTERVAL_MS, resolve));
    }
    return false;
  }

  /** Says how the visit has ended elsewhere. Nothing while it has not. */
  async #showEnd(): Promise<void> {
    const { data } = this;
    const now = await this.#currentPage();
    // An action that began meanwhile has its own end.
    if (now === undefined || this.#isOver || this.needs.isBusy()) return;
    const state = stateOf(now);
    if (state === undefined) {
      const { documentVersion } = JSON.parse(
        now.querySelector('#page-data')?.textContent ?? '{}',
      ) as Partial<SigningData>;
      // Another page came: that of a captive portal, or of a sign-in.
      if (documentVersion !== undefined && documentVersion !== data.documentVersion)
        this.#showNotice('newer-version');
    } else if (state !== undefined && ACTED.has(state)) {
      // The answer of an attempt was lost. Where others of a rule were enough, the attempt itself was.
      const isOwn = state === 'processing' || findElement('main[data-acted]', HTMLElement, now) !== undefined;
      const isLost = (...names: readonly string[]) => isOwn && names.some((name) => unanswered.has(name));
      if (isLost('approval')) this.done(data.words.approved, 'documentApproved');
      else if (isLost('electronic-signature', 'signature')) this.signed();
      else this.#showNotice('signed-already');
    } else location.reload();
  }

  /** The page as the server renders it now; undefined when it cannot be read. */
  async #currentPage(): Promise<Document | undefined> {
    try {
      const answer = await fetch(below(this.data.self), { credentials: 'omit' });
      return answer.ok ? parseHtml(await answer.text()) : undefined;
    } catch {
      return undefined;
    }
  }

  #showNotice(id: string): void {
    this.#isOver = true;
    this.#replaceMain(requireElement(`#${id}`, HTMLTemplateElement).content.firstElementChild);
  }

  /** Puts other content in the place of the page; its heading gets the focus. */
  #replaceMain(main: Element | null | undefined): void {
    if (!(main instanceof HTMLElement)) return;
    this.needs.close();
    for (const part of document.querySelectorAll('.top, .skip')) part.remove();
    requireElement('#main').replaceWith(main);
    const title = requireElement('h1');
    title.tabIndex = -1;
    title.focus();
    window.scrollTo(0, 0);
  }
}

function stateOf(now: ParentNode): string | undefined {
  return findElement('main[data-state]', HTMLElement, now)?.dataset['state'];
}
