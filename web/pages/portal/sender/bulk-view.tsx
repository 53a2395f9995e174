/** Many documents of a template: the table, its columns and faults before they are sent, and the result of each row. */

import type { SignedInUser, TablePreview } from '../../../../actors/portal/api.ts';
import type { Page } from '../../../../contracts/portal/lists.ts';
import type {
  GenerationRow,
  GenerationView,
} from '../../../../contracts/portal/saved-requests/generations.ts';
import type { TemplateItem } from '../../../../contracts/portal/saved-requests/templates.ts';
import { markup } from '../../../../contracts/texts/markup.tsx';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import type { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { Button, ButtonLink } from '../../../components/controls.tsx';
import { Island } from '../../../components/island.tsx';
import { Badge, Card, PageHead, Progress, Table } from '../../../components/surfaces.tsx';
import { type AccountPage, accountPage, addressFrom, FORM_TOKEN, personOf } from '../account-frame.ts';
import { counted, filled, type SenderTexts, textBy } from '../texts.ts';
import { GenerationProgress, TableFields, type TableFile, TableForm } from './table-form.tsx';
import { timeText } from './times.ts';

/** Rows of the table that are shown before it is sent, and faults. */
const ROWS_SHOWN = 5;
const FAULTS_SHOWN = 50;

export interface BulkPage {
  readonly template: TemplateItem;
  /** True when the user may create documents of it. */
  readonly mayUse: boolean;
  readonly file?: TableFile;
  readonly preview?: TablePreview;
  /** The same for each time the form is sent. */
  readonly key?: string;
  /** The columns were changed after the rows were checked: nothing was sent. */
  readonly isChanged?: boolean;
  /** Reason why the table cannot be used. */
  readonly refusal?: PortalRefusal;
  /** Newest first. */
  readonly earlier?: readonly { readonly at: number; readonly generation: GenerationView }[];
}

type Texts = SenderTexts['bulk'];

export function bulkPage(page: AccountPage, user: SignedInUser, shown: BulkPage): string {
  const { senders } = TEXTS[page.words.language];
  const texts = senders.bulk;
  const { template, mayUse, file, preview, isChanged = false, refusal, earlier = [] } = shown;
  const { uploading, notUploaded } = senders.editor.script;
  const path = `/account/templates/${template.id}`;
  return accountPage(page, user, {
    title: filled(texts.title, { name: template.name }),
    hasHeading: true,
    script: 'bulk.js',
    data: { formToken: user.formToken, userId: personOf(user), words: senders.editor.script },
    main: markup(
      <>
        <PageHead
          title={filled(texts.title, { name: template.name })}
          from={{ href: addressFrom(page, path), text: template.name }}
        />
        <p>{texts.intro}</p>
        <p class="hint">{texts.limits}</p>
        {mayUse && preview === undefined && refusal === undefined && (
          <p>
            <a href={addressFrom(page, `${path}/bulk/table.csv`)}>{texts.emptyTable}</a>
          </p>
        )}
        {refusal !== undefined && (
          <div class="outcome bad" id="refusal" role="alert" tabIndex={-1}>
            {filled(texts.refused, { name: file?.name ?? '', reason: faultIn(page, refusal) })}
            <Original page={page} code={refusal.code} message={refusal.message} />
          </div>
        )}
        {isChanged && (
          <p class="outcome" id="changed" role="alert">
            {texts.changed}
          </p>
        )}
        {mayUse ? (
          <>
            <Island
              name="table"
              of={TableForm}
              props={{
                action: addressFrom(page, `${path}/bulk/preview`),
                formToken: user.formToken,
                version: template.version,
                file,
                label: preview === undefined ? texts.choose : texts.chooseOther,
                isMain: preview === undefined,
                isInvalid: refusal !== undefined,
                words: { uploading, notUploaded },
              }}
            />
            <noscript>
              <p class="trouble">{senders.editor.needsScript}</p>
            </noscript>
          </>
        ) : (
          <p class="hint">{senders.list.readOnly}</p>
        )}
        {mayUse && preview !== undefined && file !== undefined && (
          <Preview page={page} user={user} texts={texts} shown={shown} preview={preview} file={file} />
        )}
        {earlier.length > 0 && <Earlier page={page} texts={texts} path={path} earlier={earlier} />}
      </>,
    ),
  });
}

function Earlier({
  page,
  texts,
  path,
  earlier,
}: {
  page: AccountPage;
  texts: Texts;
  path: string;
  earlier: NonNullable<BulkPage['earlier']>;
}) {
  const { language } = page.words;
  return (
    <Card title={texts.earlier}>
      <Table
        id="earlier-sends"
        caption={texts.earlier}
        heads={[texts.when, texts.progress, texts.result]}
        rows={earlier.map(({ at, generation }) => {
          const { id, initializedCount, refusedRowsCount, totalDocumentsCount } = generation;
          const done = initializedCount + refusedRowsCount;
          return {
            key: id,
            cells: [
              <a href={addressFrom(page, `${path}/bulk/${id}`)}>{timeText(language, at)}</a>,
              <Progress done={done} of={totalDocumentsCount} label={texts.progress} />,
              <>
                {counted(language, texts.sent, initializedCount)}
                {refusedRowsCount > 0 && `, ${counted(language, texts.faults, refusedRowsCount)}`}
              </>,
            ],
          };
        })}
      />
    </Card>
  );
}

interface Fault {
  readonly code: string;
  readonly message: string;
}

/** One text for the columns of a form, by which two forms are compared. */
export function columnsText(chosen: readonly string[]): string {
  return JSON.stringify(chosen.slice(0, chosen.findLastIndex((column) => column !== '') + 1));
}

/** Says what is wrong in the language of the page, as far as the code tells it. */
function faultIn({ words }: AccountPage, { code, message }: Fault): string {
  if (words.language === 'en') return message;
  return textBy(code, TEXTS[words.language].senders.editor.script.refusals) ?? message;
}

/** The sentence of the service, which names the place, where another is shown in its stead. */
function Original({ page, code, message }: { page: AccountPage } & Fault) {
  if (faultIn(page, { code, message }) === message) return null;
  return (
    <div class="hint" lang="en">
      <bdi>{message}</bdi>
    </div>
  );
}

function Preview({
  page,
  user,
  texts,
  shown: { template, key },
  preview,
  file,
}: {
  page: AccountPage;
  user: SignedInUser;
  texts: Texts;
  shown: BulkPage;
  preview: TablePreview;
  file: TableFile;
}) {
  const { given, columns, known, faults, table } = preview;
  const { hidden, empty } = given.leftOut;
  const { language } = page.words;
  const fields = { formToken: user.formToken, version: template.version, file };
  const path = `/account/templates/${template.id}/bulk`;
  const good = table.rows.length - faults.length;
  const nameOf = ({ column, role, text, isProperty }: KnownColumn) => {
    if (role !== undefined) return `${role}: ${textBy(text, texts.parts) ?? text}`;
    return (isProperty ? textBy(column, properties) : undefined) ?? text;
  };
  const { senders } = TEXTS[language];
  const properties = {
    documentname: senders.templates.documentName,
    externalid: texts.reference,
    description: senders.editor.messageText,
  };
  const { options, targetOf } = targetsOf(known, nameOf);
  const chosen = given.columns.map((_, at) => targetOf(columns[at] ?? ''));
  return (
    <>
      {hidden !== '' && (
        <p class="outcome" id="hidden-rows" role="status">
          {filled(texts.hiddenRows, { rows: hidden })}
        </p>
      )}
      {empty !== '' && (
        <p class="hint" id="empty-rows">
          {filled(texts.emptyRows, { rows: empty })}
        </p>
      )}
      <form method="post" action={addressFrom(page, `${path}/preview`)} id="columns-form">
        <TableFields {...fields} />
        <input type="hidden" name="key" value={key} />
        <input type="hidden" name="checked" value={columnsText(chosen)} />
        <Card title={texts.columns} aside={<Button type="submit">{texts.check}</Button>}>
          <Table
            cards="named"
            caption={texts.columns}
            heads={[
              texts.column,
              texts.fills,
              ...given.rows.slice(0, ROWS_SHOWN).map((_, at) => rowName(texts, at + 1)),
            ]}
            rows={given.columns.map((name, at) => ({
              key: name,
              cells: [
                <label for={`column-${at}`}>
                  <bdi>{name}</bdi>
                </label>,
                <select id={`column-${at}`} name={`column-${at}`}>
                  <option value="">{texts.unused}</option>
                  {options.map(({ column, text }) => (
                    <option key={column} value={column} selected={chosen[at] === column}>
                      {text}
                    </option>
                  ))}
                </select>,
                ...given.rows.slice(0, ROWS_SHOWN).map((cells) => <bdi>{cells[at] ?? ''}</bdi>),
              ],
            }))}
          />
        </Card>
      </form>
      {faults.length > 0 && (
        <Card title={counted(language, texts.faults, faults.length)} label={texts.faultsTitle} hasBody>
          <ol class="rows" id="table-faults">
            {faults.slice(0, FAULTS_SHOWN).map(({ row, code, text }) => (
              <li key={row}>
                <Badge tone="bad">{rowName(texts, row)}</Badge>{' '}
                <bdi>{faultIn(page, { code, message: text })}</bdi>
                <Original page={page} code={code} message={text} />
              </li>
            ))}
          </ol>
          {faults.length > FAULTS_SHOWN && <p class="hint">…</p>}
        </Card>
      )}
      <p class="ways">
        <Button
          type="submit"
          form="columns-form"
          formAction={addressFrom(page, `${path}/documents`)}
          rank="main"
          disabled={good === 0}
        >
          {counted(language, texts.send, good)}
        </Button>
      </p>
    </>
  );
}

type KnownColumn = TablePreview['known'][number];

/** Returns the same text for the columns of one part of a person, and for no others. */
function identityOf({ column, role, text }: KnownColumn): string {
  return JSON.stringify(role === undefined ? [column] : [role, text]);
}

/** Lists what the columns of a table may fill, each once; names that repeat have the column behind them. */
function targetsOf(known: TablePreview['known'], nameOf: (one: KnownColumn) => string) {
  const targets = new Map(known.map((one) => [identityOf(one), one]));
  const named = [...targets.values()].map((one) => ({ column: one.column, name: nameOf(one) }));
  const first = new Map(named.toReversed().map(({ column, name }) => [name, column]));
  const last = new Map(named.map(({ column, name }) => [name, column]));
  const options = named.map(({ column, name }) => ({
    column,
    text: first.get(name) === last.get(name) ? name : `${name} (${column})`,
  }));
  const places = new Map(known.map((one) => [one.column, targets.get(identityOf(one))?.column ?? '']));
  return { options, targetOf: (column: string) => places.get(column) ?? '' };
}

function rowName({ row }: Texts, number: number): string {
  return filled(row, { number });
}

export interface BulkResultPage {
  readonly template: TemplateItem;
  readonly generation: GenerationView;
  readonly rows: Page<GenerationRow>;
  readonly mayCancel: boolean;
  /** Page of the rows, from 0. */
  readonly offset: number;
}

export function bulkResultPage(
  page: AccountPage,
  user: SignedInUser,
  { template, generation, rows, offset, mayCancel }: BulkResultPage,
): string {
  const { senders } = TEXTS[page.words.language];
  const texts = senders.bulk;
  const { id, status, totalDocumentsCount, initializedCount, refusedRowsCount, error } = generation;
  const isRunning = status === 'Pending' || status === 'Init' || status === 'Canceling';
  const path = `/account/templates/${template.id}/bulk/${id}`;
  const done = initializedCount + refusedRowsCount;
  const sent = counted(page.words.language, texts.sent, initializedCount);
  const refused = counted(page.words.language, texts.faults, refusedRowsCount);
  const statuses = { Pending: texts.pending, Made: texts.made, Refused: texts.notMade };
  return accountPage(page, user, {
    title: filled(texts.title, { name: template.name }),
    script: 'bulk.js',
    data: {
      formToken: user.formToken,
      userId: personOf(user),
      words: senders.editor.script,
      ...(isRunning && { running: id }),
    },
    main: markup(
      <>
        <p>
          <a href={addressFrom(page, `/account/templates/${template.id}`)}>{template.name}</a>
        </p>
        <div
          class={`outcome ${isRunning ? '' : error === null ? 'good' : 'bad'}`}
          role="status"
          id="bulk-state"
          data-running={isRunning}
        >
          {isRunning ? texts.running : error === null ? sent : faultIn(page, error)}
          {refusedRowsCount > 0 && `, ${refused}`}
        </div>
        <Island
          name="progress"
          of={GenerationProgress}
          props={{ done, of: totalDocumentsCount, label: texts.progress }}
        />
        {isRunning && mayCancel && (
          <form method="post" action={addressFrom(page, `${path}/cancellation`)}>
            <input type="hidden" name={FORM_TOKEN} value={user.formToken} />
            <p class="ways">
              <Button type="submit">{texts.stop}</Button>
            </p>
          </form>
        )}
        <Card title={texts.results}>
          <Table
            id="bulk-rows"
            caption={texts.results}
            heads={[texts.rowHead, texts.result, texts.document]}
            rows={rows.items.map(({ row, status: state, documentIds, error: fault }) => ({
              key: String(row),
              cells: [
                row,
                <>
                  <Badge tone={state === 'Made' ? 'good' : state === 'Refused' ? 'bad' : 'info'}>
                    {statuses[state]}
                  </Badge>{' '}
                  {fault !== null && (
                    <>
                      {faultIn(page, fault)}
                      <Original page={page} {...fault} />
                    </>
                  )}
                </>,
                documentIds.map((document) => (
                  <a key={document} href={addressFrom(page, `/account/documents/${document}`)}>
                    {texts.document} {row}
                  </a>
                )),
              ],
            }))}
          />
        </Card>
        <p class="ways">
          {offset > 0 && (
            <ButtonLink href={addressFrom(page, `${path}?rows=${offset - 1}`)}>{texts.before}</ButtonLink>
          )}
          {(offset + 1) * 100 < rows.totalCount && (
            <ButtonLink href={addressFrom(page, `${path}?rows=${offset + 1}`)}>{texts.after}</ButtonLink>
          )}
        </p>
      </>,
    ),
  });
}
