/** The editor: a bar with the steps, and one step at a time. */
import type { ComponentChildren } from 'preact';
import { Button } from '../../../components/controls.tsx';
import { Icon } from '../../../components/icon.tsx';
import type { LogoImage } from '../../../pages/portal/page-frame.tsx';
import { counted, filled, type SenderTexts } from '../../../pages/portal/texts.ts';
import { below } from '../../dom.ts';
import { STEPS, type Step } from './editor-faults.ts';
import { type EditorPage, focusOn } from './editor-page.ts';
import type { EditorSaving } from './editor-saving.ts';
import { FieldsStep } from './fields-step.tsx';
import { FilesStep } from './files-step.tsx';
import type { PageBoxes } from './page-boxes.tsx';
import { PeopleStep } from './people-step.tsx';
import { ReviewStep } from './review-step.tsx';

export interface EditorFrameOptions {
  readonly page: EditorPage;
  readonly saving: EditorSaving;
  readonly boxes: PageBoxes;
  readonly templates: SenderTexts['templates'];
  readonly title: string;
  /** Text of the button of a session in another application; absent: the page has a link back. */
  readonly close: string | undefined;
  /** Of the organization, in a session that is not embedded. */
  readonly logo: LogoImage | undefined;
  go(step: Step): void;
}

export function EditorFrame(parts: EditorFrameOptions) {
  const { page, saving, templates } = parts;
  return (
    <>
      <Bar {...parts} />
      <main id="main" tabIndex={-1} class={page.step === 'fields' ? 'wide' : undefined}>
        <Faults page={page} />
        <div id="outcome" class={`outcome ${page.notice?.kind ?? ''}`} role="status" tabIndex={-1}>
          {page.notice?.text}
        </div>
        <StepPart page={page} step="files">
          <FilesStep page={page} />
        </StepPart>
        <StepPart page={page} step="people">
          <PeopleStep page={page} templates={templates} />
        </StepPart>
        <StepPart page={page} step="fields">
          <FieldsStep page={page} boxes={parts.boxes} />
        </StepPart>
        <StepPart page={page} step="review">
          <ReviewStep page={page} saving={saving} templates={templates} go={parts.go} />
        </StepPart>
      </main>
    </>
  );
}

/** The steps stay where they are, so that nothing is loaded again. */
function StepPart({ page, step, children }: { page: EditorPage; step: Step; children: ComponentChildren }) {
  const number = STEPS.indexOf(step) + 1;
  const name = page.texts.stepNames[step];
  const title = filled(page.texts.stepOf, { number, count: STEPS.length, name });
  return (
    <section hidden={page.step !== step} class={`step ${step}`} aria-labelledby={`step-${step}`}>
      <h2 id={`step-${step}`} tabIndex={-1} class={step === 'fields' ? 'unseen' : undefined}>
        {title}
      </h2>
      {page.visited.has(step) && children}
    </section>
  );
}

function Bar({ page, saving, templates, title, close, logo, go }: EditorFrameOptions) {
  const { texts } = page;
  const next = page.nextStep();
  const current = STEPS.indexOf(page.step);
  const [first] = page.model.files;
  const home = page.isTemplate ? '/account/templates' : '/account/documents';
  const last = page.isTemplate
    ? page.data.template === null
      ? templates.save
      : filled(templates.saveVersion, { version: String((page.data.templateVersion ?? 0) + 1) })
    : texts.send;
  return (
    <header class="top">
      {close === undefined && (
        <a
          class="button quiet square"
          href={below(home)}
          aria-label={page.isTemplate ? texts.backToTemplates : texts.backToDocuments}
        >
          <Icon name="arrow-left" />
        </a>
      )}
      {logo !== undefined && <img {...logo} alt="" />}
      <div class="name">
        <h1 class="cut">
          <bdi>{page.isTemplate ? page.template.name || title : first?.displayName || title}</bdi>
        </h1>
        <SavedState page={page} saving={saving} />
      </div>
      <nav aria-label={texts.steps}>
        <ol class="steps">
          {STEPS.map((step, index) => (
            <li key={step} class={index < current ? 'done' : undefined}>
              <button
                type="button"
                aria-current={step === page.step ? 'step' : undefined}
                onClick={() => go(step)}
              >
                <b>{index < current ? <Icon name="check" size="s" /> : index + 1}</b>
                {texts.stepNames[step]}
              </button>
            </li>
          ))}
        </ol>
      </nav>
      <div class="row">
        {close !== undefined && (
          <Button id="close-editor" disabled={page.isBusy}>
            {close}
          </Button>
        )}
        {next === undefined ? (
          <Button
            id={page.isTemplate ? 'save-template' : 'send'}
            rank="main"
            disabled={page.isBusy}
            onClick={() => void (page.isTemplate ? saving.saveTemplate() : saving.send())}
          >
            {last}
          </Button>
        ) : (
          <Button id="next" rank="main" onClick={() => go(next)}>
            {texts.stepNames[next]}
            <Icon name="chevron-right" />
          </Button>
        )}
      </div>
    </header>
  );
}

function SavedState({ page, saving }: { page: EditorPage; saving: EditorSaving }) {
  const { texts, saved } = page;
  if (page.isTemplate) return <p class="small muted cut">{texts.savedHere}</p>;
  if (saved.state === 'failed')
    return (
      <p id="saved" class="small fault" role="alert">
        {texts.unsaved}: {saved.reason}{' '}
        <button type="button" class="link" onClick={() => void saving.save()}>
          {texts.saveAgain}
        </button>
      </p>
    );
  const time = 'time' in saved ? saved.time : undefined;
  const text =
    time !== undefined
      ? filled(texts.savedAt, { time })
      : saved.state === 'changed'
        ? texts.unsaved
        : texts.notSavedYet;
  return (
    <p id="saved" class="small muted cut" data-state={saved.state}>
      {text}
    </p>
  );
}

/** Links to the inputs at fault. */
function Faults({ page }: { page: EditorPage }) {
  const { faults, words } = page;
  if (faults.length === 0) return null;
  const title = counted(document.documentElement.lang, page.texts.missing, faults.length);
  return (
    <div class="outcome bad" id="faults" role="alert">
      <p>{title}</p>
      <ul>
        {faults.slice(0, 10).map((fault) => (
          <li key={`${fault.input} ${fault.code} ${fault.item?.key ?? ''}`}>
            <a
              href={`#${fault.input}`}
              onClick={(event) => {
                event.preventDefault();
                if (fault.item !== undefined) page.selected = fault.item;
                page.go(fault.step, fault.input);
                focusOn(fault.input);
              }}
            >
              {fault.person !== undefined && `${page.nameOf(fault.person)}: `}
              {words[fault.code]}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
