/** Puts the editor into its page, and connects keys, addresses and the session around it. */
import { render } from 'preact';
import type { LogoImage } from '../../../pages/portal/page-frame.tsx';
import { FOLDERS_OFFERED } from '../../../pages/portal/sender/folder-options.tsx';
import type { SenderTexts } from '../../../pages/portal/texts.ts';
import { requireElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { faultsOf, STEPS, type Step } from './editor-faults.ts';
import { EditorFrame } from './editor-frame.tsx';
import { emptyModel, fromRequest } from './editor-model.ts';
import { EditorPage, type TemplateSettings } from './editor-page.ts';
import { EditorSaving } from './editor-saving.ts';
import { PageBoxes } from './page-boxes.tsx';
import { call, type EditorData, typeOf } from './sender-requests.ts';

interface EditorPageData extends EditorData {
  readonly texts: SenderTexts['editor'];
  readonly templateTexts: SenderTexts['templates'];
  readonly templateSettings?: TemplateSettings;
  readonly title: string;
  /** Text of the button that saves and ends a session in another application. */
  readonly close?: string;
  readonly logo?: LogoImage;
}

export function startEditor(): void {
  const data = pageData<EditorPageData>();
  const { words, texts } = data;
  const known = data.draft ?? data.template;
  const model = known === null ? emptyModel() : fromRequest(known.document, words);
  const element = requireElement('#editor');
  element.replaceChildren();
  const locations = new Map(Object.entries(data.locations));
  const settings = { name: '', description: '', days: 0, ...data.templateSettings };
  const page = new EditorPage({ model, data, texts, template: settings, locations, draw: () => draw() });
  const saving = new EditorSaving(page);
  const boxes = new PageBoxes(page);
  const go = (step: Step): void => {
    if (step === page.step) return;
    const isForward = STEPS.indexOf(step) > STEPS.indexOf(page.step);
    if (isForward) {
      const name = page.isTemplate ? page.template.name : undefined;
      // What later steps lack is said there.
      const faults = faultsOf(page.model, '', name).filter((fault) => fault.step === page.step);
      if (!page.mark(faults)) return;
    } else {
      page.faults = [];
    }
    page.notice = undefined;
    page.go(step);
    saving.showAddress(true);
  };
  let isDrawing = false;
  let isOld = false;
  const draw = () => {
    isOld = true;
    // An element that is removed or gets the focus asks for another drawing while this one is under way.
    if (isDrawing) return;
    isDrawing = true;
    try {
      while (isOld) drawOnce();
    } finally {
      isDrawing = false;
    }
  };
  const drawOnce = () => {
    isOld = false;
    const { title, templateTexts: templates, close, logo } = data;
    const parts = { page, saving, boxes, go, title, templates, close, logo };
    render(<EditorFrame {...parts} />, element);
    boxes.draw();
  };

  for (const file of model.files) {
    void typeOf(file.contentType, locations.get(file.id)).then((type) => {
      if (type === file.contentType) return;
      file.contentType = type;
      draw();
    });
  }

  const stepOfAddress = () => STEPS.find((step) => `#${step}` === location.hash);
  window.addEventListener('popstate', () => {
    const step = stepOfAddress();
    if (step === undefined || step === page.step) return;
    page.go(step);
    saving.showAddress();
  });
  document.addEventListener('editor-close', () => void saving.saveNow());
  undoByKeys(page);
  // The number of the page in view.
  let isAsked = false;
  const scrolled = () => {
    if (isAsked || page.step !== 'fields') return;
    isAsked = true;
    window.requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
  document.addEventListener('scroll', scrolled, { capture: true, passive: true });

  const first = stepOfAddress() ?? 'files';
  page.step = first;
  page.visited.add(first);
  draw();
  element.setAttribute('data-ready', 'true');
  if (data.draftPath === undefined) void loadFolders(page);
}

/** Folders are a choice of people who have an account; without them the document is in none. */
async function loadFolders(page: EditorPage): Promise<void> {
  interface Folders {
    readonly items: readonly { readonly id: string; readonly name: string }[];
    readonly totalCount: number;
  }
  for (let offset = 0; page.folders.length < FOLDERS_OFFERED; offset += 1) {
    const path = `/api/folders?Limit=100&Offset=${offset}`;
    const found = await call<Folders>(page.data, 'GET', path).catch(() => undefined);
    page.folders = [...page.folders, ...(found?.items ?? [])];
    if (found === undefined || found.items.length === 0 || page.folders.length >= found.totalCount) break;
  }
  page.show();
}

function undoByKeys(page: EditorPage): void {
  document.addEventListener('keydown', (event) => {
    const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyped) return;
    const key = event.key.toLowerCase();
    if (key === 'z' && !event.shiftKey) page.undo();
    else if (key === 'y' || key === 'z') page.redo();
    else return;
    event.preventDefault();
  });
}
