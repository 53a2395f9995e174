/** The last step: what is sent to whom, with message, last day and folder; or the settings of a template. */
import type { ComponentChildren } from 'preact';
import { Button, Field } from '../../../components/controls.tsx';
import { Badge } from '../../../components/surfaces.tsx';
import { FolderOptions } from '../../../pages/portal/sender/folder-options.tsx';
import { counted, filled, type SenderTexts } from '../../../pages/portal/texts.ts';
import type { Step } from './editor-faults.ts';
import { acts } from './editor-model.ts';
import type { EditorPage } from './editor-page.ts';
import type { EditorSaving } from './editor-saving.ts';

interface Props {
  readonly page: EditorPage;
  readonly saving: EditorSaving;
  readonly templates: SenderTexts['templates'];
  go(step: Step): void;
}

export function ReviewStep({ page, saving, templates, go }: Props) {
  const { texts, model } = page;
  const lang = document.documentElement.lang;
  const people = page.people.toSorted(
    (one, other) => Number(acts(other)) - Number(acts(one)) || one.step - other.step,
  );
  return (
    <>
      <p class="hint">{page.isTemplate ? templates.intro : texts.reviewText}</p>
      <div class="review">
        <Part page={page} step="files" title={texts.files} go={go}>
          <ul class="rows">
            {model.files.map(({ id, displayName, name }) => (
              <li key={id}>
                <bdi class="grow">{displayName || name}</bdi>
              </li>
            ))}
          </ul>
          {model.envelope && model.files.length > 1 && <p class="hint">{texts.envelope}</p>}
        </Part>
        <Part page={page} step="people" title={texts.people} go={go}>
          <ol class="rows">
            {people.map((person) => (
              <li key={page.people.indexOf(person)} style={{ '--p': page.colourOf(person) }}>
                {acts(person) && <span class="swatch" />}
                <span class="grow">
                  <b>
                    <bdi>{page.nameOf(person)}</bdi>
                  </b>{' '}
                  <span class="muted">{person.email}</span>
                </span>
                <Badge>{acts(person) ? `${texts.order} ${person.step}` : texts.observer}</Badge>
                {acts(person) && <Badge>{counted(lang, texts.fieldCount, person.items.length)}</Badge>}
              </li>
            ))}
          </ol>
        </Part>
        <Message page={page} />
        {page.isTemplate ? (
          <section class="card" aria-labelledby="template-title">
            <header>
              <h3 id="template-title">{templates.one}</h3>
            </header>
            <div class="body">
              <Template page={page} templates={templates} />
            </div>
          </section>
        ) : (
          page.data.draftPath === undefined && (
            <details id="template">
              <summary>{templates.save}</summary>
              <Template page={page} templates={templates} />
              <p class="ways">
                <Button id="save-template" disabled={page.isBusy} onClick={() => void saving.saveTemplate()}>
                  {templates.save}
                </Button>
              </p>
            </details>
          )
        )}
      </div>
    </>
  );
}

function Part({
  page,
  step,
  title,
  go,
  children,
}: Pick<Props, 'page' | 'go'> & { step: Step; title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <Button
          rank="quiet"
          icon="pen-line"
          label={filled(page.texts.change, { part: title })}
          onClick={() => go(step)}
        />
      </header>
      <div class="body">{children}</div>
    </section>
  );
}

function Message({ page }: Pick<Props, 'page'>) {
  const { texts, model } = page;
  return (
    <section class="card" aria-labelledby="message-title">
      <header>
        <h3 id="message-title">{texts.message}</h3>
      </header>
      <div class="body">
        <div class="field">
          <label for="message">{texts.messageText}</label>
          <textarea
            id="message"
            dir="auto"
            rows={4}
            maxlength={4000}
            aria-describedby="message-hint"
            value={model.message}
            onInput={({ currentTarget }) =>
              page.change(() => {
                model.message = currentTarget.value;
              }, 'message')
            }
          />
          <p class="hint" id="message-hint">
            {texts.messageHint}
          </p>
        </div>
        {!page.isTemplate && (
          <Field
            id="expires"
            label={texts.expires}
            type="date"
            error={page.errorOf('expires')}
            value={model.expires}
            onChange={({ currentTarget }) => {
              page.corrected('expires');
              page.change(() => {
                model.expires = currentTarget.value;
              });
            }}
          />
        )}
        <Field
          id="reminder-days"
          label={texts.reminders}
          type="number"
          min={1}
          max={365}
          value={model.reminderDays > 0 ? String(model.reminderDays) : ''}
          onChange={({ currentTarget }) =>
            page.change(() => {
              model.reminderDays = Math.trunc(Number(currentTarget.value)) || 0;
            })
          }
        />
        {page.folders.length > 0 && (
          <div class="field">
            <label for="folder">{texts.folder}</label>
            <select
              id="folder"
              value={model.folder}
              onChange={({ currentTarget }) =>
                page.change(() => {
                  model.folder = currentTarget.value;
                })
              }
            >
              <option value="">{texts.noFolder}</option>
              <FolderOptions folders={page.folders} chosen={model.folder} more={texts.moreFolders} />
            </select>
          </div>
        )}
      </div>
    </section>
  );
}

function Template({ page, templates }: Pick<Props, 'page' | 'templates'>) {
  const { template } = page;
  const set = (edit: () => void) => {
    edit();
    page.corrected('template-name');
    page.onChange();
    page.show();
  };
  return (
    <>
      <p class="hint">{templates.roleHint}</p>
      <Field
        id="template-name"
        label={templates.name}
        dir="auto"
        maxlength={200}
        error={page.errorOf('template-name')}
        value={template.name}
        onInput={({ currentTarget }) =>
          set(() => {
            template.name = currentTarget.value;
          })
        }
      />
      <div class="field">
        <label for="template-description">{templates.description}</label>
        <textarea
          id="template-description"
          dir="auto"
          rows={2}
          maxlength={2000}
          value={template.description}
          onInput={({ currentTarget }) =>
            set(() => {
              template.description = currentTarget.value;
            })
          }
        />
      </div>
      <Field
        id="template-days"
        label={templates.expirationDays}
        type="number"
        min={1}
        max={3650}
        value={template.days > 0 ? String(template.days) : ''}
        onChange={({ currentTarget }) =>
          set(() => {
            template.days = Math.trunc(Number(currentTarget.value)) || 0;
          })
        }
      />
    </>
  );
}
