/** One document for its senders: state, participants, downloads, history and actions. Works without scripts. */

import type { ComponentChildren } from 'preact';
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { DocumentHistoryEntry } from '../../../../contracts/portal/document-history.ts';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';
import type { Mail } from '../../../../contracts/portal/mails.ts';
import type { DocumentRetention } from '../../../../contracts/portal/retention/retention.ts';
import type { DownloadType, Language } from '../../../../contracts/portal/words.ts';
import { DOCUMENT_STATUS } from '../../../../contracts/portal/words.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { maySend } from '../../../../machines/portal/accounts/user-rights.ts';
import { Button, ButtonLink } from '../../../components/controls.tsx';
import { Island } from '../../../components/island.tsx';
import { Badge, Drop, Facts, PageHead } from '../../../components/surfaces.tsx';
import { AccountForm, Sure, type Viewed } from '../account-form.tsx';
import { type AccountPage, accountPage, addressFrom, personOf } from '../account-frame.ts';
import { doingOf, WarningLines } from '../document-part.tsx';
import { filled, type SenderTexts } from '../texts.ts';
import { type Change, ChangeButton, NewVersion, PersonMenu, type Who } from './changes.tsx';
import { DocumentPreview, placesOf } from './document-preview.tsx';
import { canBeReminded, hasActed } from './people-left.ts';
import { RetentionOf } from './retention-part.tsx';
import { timeText } from './times.ts';

/** Results that the page tells. */
export const DONE = [
  'sent',
  'reminded',
  'notReminded',
  'canceled',
  'replaced',
  'mailResent',
  'factorReset',
] as const;

/** Nobody acts on such a document any more. */
const OVER: ReadonlySet<DocumentView['status']> = new Set(['Refused', 'Canceled', 'Expired']);

export interface SenderDocument {
  readonly document: DocumentView;
  /** Newest first. */
  readonly mails: readonly Mail[];
  /** Newest first. */
  readonly history: readonly DocumentHistoryEntry[];
  /** Newest entries about visits, newest first, on each page of the history. */
  readonly visits: readonly DocumentHistoryEntry[];
  /** Address of older entries; undefined: there are none. */
  readonly older: string | undefined;
  /** The action that led to the page. */
  readonly done: (typeof DONE)[number] | undefined;
  readonly folders: readonly FolderName[];
  /** People with an authenticator app or passkeys that the user may remove, by id. */
  readonly factorHolders: ReadonlySet<string>;
  /** Hold and planned deletion; undefined: not for this user. */
  readonly retention: DocumentRetention | undefined;
  /** True when the user may change it. */
  readonly mayChange: boolean;
  /** Path of the file to show; undefined: it has no pages. */
  readonly preview: string | undefined;
}

interface FolderName {
  readonly id: string;
  readonly name: string;
}

/** Data for the script of the page. */
export interface SenderDocumentData {
  readonly formToken: string;
  readonly userId: string;
  readonly documentId: string;
  readonly preview: string | undefined;
  readonly folderId: string | null;
  readonly folders: readonly FolderName[];
  readonly words: SenderTexts['editor']['script'];
  readonly changes: SenderTexts['page']['changes'];
}

/** Properties of each part of the page. */
interface Parts extends Viewed {
  readonly texts: SenderTexts;
  readonly shown: SenderDocument;
}

export function senderDocumentPage(page: AccountPage, user: SignedInUser, shown: SenderDocument): string {
  const texts = TEXTS[page.words.language].senders;
  const { document, done, preview, folders, mayChange } = shown;
  const parts = { page, user, texts, shown };
  const data: SenderDocumentData = {
    formToken: user.formToken,
    userId: personOf(user),
    documentId: document.id,
    folders: foldersFor(shown),
    preview,
    folderId: document.folder?.id ?? null,
    words: texts.editor.script,
    changes: texts.page.changes,
  };
  return accountPage(page, user, {
    title: document.name,
    hasHeading: true,
    main: (
      <>
        {done !== undefined && (
          <p class={`outcome ${done === 'notReminded' ? 'bad' : 'good'}`} role="status">
            {texts.page[done]}
          </p>
        )}
        <div id="document" class="stack">
          <Head {...parts} />
          <div class={preview === undefined ? 'stack' : 'stack with-preview'}>
            {preview !== undefined && <Preview {...parts} />}
            <section>
              <Participants {...parts} />
            </section>
            <section>
              <DocumentFacts {...parts} />
              <WarningLines warnings={document.warnings} words={page.words} />
              <Downloads {...parts} />
              {!mayChange && <p class="hint">{texts.list.readOnly}</p>}
            </section>
            {shown.retention !== undefined && (
              <RetentionOf page={page} user={user} id={document.id} retention={shown.retention} />
            )}
            <Mails {...parts} />
            <section>
              <History {...parts} />
            </section>
          </div>
        </div>
      </>
    ),
    script: 'document.js',
    data,
    facts: { folders, current: '/account/documents' },
    hasMain: mainActionOf(shown) !== undefined,
  });
}

/** The file, with the places of those who have not acted. */
function Preview({ page: { words }, texts, shown: { document } }: Parts) {
  const { previous, next } = words.signing;
  const { checksumMd5: version } = document;
  const failed = words.signing.script.cannotShow;
  const labels = { previous, next, failed, label: texts.list.document, pageOf: texts.editor.script.pageOf };
  return (
    <Island
      name="preview"
      of={DocumentPreview}
      props={{ version, places: placesOf(document, texts), texts: labels }}
    />
  );
}

/** The likely next act of a sender. Undefined: to begin another document. */
function mainActionOf({ document, mayChange }: SenderDocument): 'remind' | 'download' | undefined {
  if (document.status === 'Concluded')
    return document.hasSignature && !document.isDeleted ? 'download' : undefined;
  const isOpen = document.status === 'Pending' && !document.isDeleted;
  return isOpen && mayChange && document.flowActions.some(canBeReminded) ? 'remind' : undefined;
}

/** Title and state, the one primary action, and a menu of the others. */
function Head(parts: Parts) {
  const { page, texts, shown } = parts;
  const { name, status } = shown.document;
  return (
    <PageHead
      title={name}
      from={{ href: addressFrom(page, '/account/documents'), text: texts.page.back }}
      state={<Badge tone={DOCUMENT_STATUS[status].tone}>{texts.statuses[status]}</Badge>}
    >
      <MainAction {...parts} />
      <Menu {...parts} />
    </PageHead>
  );
}

function MainAction(parts: Parts) {
  const { page, texts, shown } = parts;
  const { id } = shown.document;
  const main = mainActionOf(shown);
  if (main === undefined) return null;
  if (main === 'download')
    return (
      <ButtonLink rank="main" icon="download" href={contentOf(id, 'Signatures')} download>
        {texts.page.signed}
      </ButtonLink>
    );
  const pending = shown.document.flowActions.filter(canBeReminded);
  const [first] = pending;
  const name = first === undefined ? '' : nameOf(first, page.words.signing.unnamed);
  return (
    <AccountForm of={parts} isChecked action={`/account/documents/${id}/remind`}>
      <Button type="submit" rank="main" icon="bell">
        {pending.length === 1
          ? filled(texts.page.remindName, { name })
          : filled(texts.page.remindAll, { count: pending.length })}
      </Button>
    </AccountForm>
  );
}

/** The other changes of the document. */
function Menu(parts: Parts) {
  const { page, user, texts, shown } = parts;
  const { document, mayChange } = shown;
  if (document.isDeleted) return null;
  const isOpen = document.status === 'Pending';
  const mayReplace = (isOpen || document.status === 'Refused') && !document.isEnvelope;
  const mayKeep = maySend(user.role, '/account/templates');
  if (!mayChange && !mayKeep) return null;
  return (
    <Drop id="document-menu" icon="ellipsis" isNamed={false} name={page.words.signing.more}>
      {mayChange && <Island name="change" of={ChangeButton} props={changeOf(texts, 'move')} needsScript />}
      {mayChange && mayReplace && <Replacement {...parts} />}
      {mayKeep && <AsTemplate {...parts} />}
      {mayChange && isOpen && <Cancellation {...parts} />}
    </Drop>
  );
}

/** Folders to choose from; that of the document is among them, although not all are offered. */
function foldersFor({ document: { folder }, folders }: SenderDocument): readonly FolderName[] {
  if (folder === null || folders.some(({ id }) => id === folder.id)) return folders;
  return [{ id: folder.id, name: folder.name }, ...folders];
}

/** A time in UTC; the script shows it as the distance from now. */
function TimeOf({ language, at }: { language: Language; at: number }) {
  return <time dateTime={new Date(at).toISOString()}>{timeText(language, at)}</time>;
}

/** A change of the script, about a person or the document. */
function changeOf(
  { page }: SenderTexts,
  what: Change['what'],
  who: Who = { action: '', member: '', name: '', email: '' },
): Change {
  return { what, label: page.changes.buttons[what], who };
}

/**
 * Changes of a person who has not acted. Of XML nobody is replaced: the API does not show which element the person signs.
 */
function changesOf(
  texts: SenderTexts,
  { id, user, status, signRuleUsers }: FlowActionView,
  isXml: boolean,
): readonly Change[] {
  if (user === null) {
    const left = signRuleUsers.filter((one) => !hasActed(one));
    return left.map((one) => changeOf(texts, 'address', whoIs(id, one, one.id)));
  }
  const who = whoIs(id, user, '');
  const changes = [changeOf(texts, 'address', who)];
  if (!isXml) changes.push(changeOf(texts, 'replace', who));
  if (status === 'Pending' && user.email !== null) changes.push(changeOf(texts, 'link', who));
  return changes;
}

function whoIs(
  action: string,
  { name, email }: { name: string | null; email: string | null },
  member: string,
): Who {
  return { action, member, name: name ?? email ?? '', email: email ?? '' };
}

function DocumentFacts({ page: { words }, texts: { page }, shown: { document } }: Parts) {
  const { language } = words;
  const { creationDate, expirationDate, statusUpdateReason: reason } = document;
  const pairs: (readonly [string, ComponentChildren])[] = [
    [page.created, <TimeOf language={language} at={creationDate} />],
  ];
  if (expirationDate !== null) pairs.push([page.expires, <TimeOf language={language} at={expirationDate} />]);
  if (reason !== null) pairs.push([page.reason, reason]);
  return <Facts pairs={pairs.map(([name, value]) => [name, <bdi>{value}</bdi>])} />;
}

function Participants(parts: Parts) {
  const { page, texts, shown } = parts;
  const { id, flowActions, status, mimeType } = shown.document;
  const { signing, language } = page.words;
  const isXml = /xml/i.test(mimeType);
  const isOpen = status === 'Pending' && shown.mayChange;
  const steps = [...new Set(flowActions.map(({ step }) => step))].sort((one, other) => one - other);
  return (
    <>
      <h2>{texts.page.participants}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ol class="participants" role="list">
        {flowActions.map((action) => (
          <li data-status={action.status}>
            <div class="grow">
              <span class="who">
                <bdi>{shownName(action, parts)}</bdi>
              </span>{' '}
              {action.user?.name && action.user.email !== null && <bdi class="hint">{action.user.email}</bdi>}
              <span class="what">
                {[
                  steps.length > 1 && filled(texts.page.step, { step: steps.indexOf(action.step) + 1 }),
                  doingOf(action, page.words, OVER.has(status)),
                ]
                  .filter(Boolean)
                  .join(': ')}
              </span>
              <LastSeen texts={texts} language={language} action={action} visits={shown.visits} />
              <GroupMembers texts={texts} action={action} />
            </div>
            {isOpen && action.status !== 'Completed' && action.status !== 'Skipped' && (
              <div class="ways">
                {canBeReminded(action) && (
                  <AccountForm
                    of={parts}
                    isChecked
                    action={`/account/documents/${id}/participants/${action.id}/remind`}
                  >
                    <Button type="submit">{texts.page.remind}</Button>
                  </AccountForm>
                )}
                <Island
                  name="person-menu"
                  of={PersonMenu}
                  needsScript
                  props={{
                    name: `${signing.more}: ${nameOf(action, signing.unnamed)}`,
                    changes: changesOf(texts, action, isXml),
                  }}
                />
                <FactorResets {...parts} action={action} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The last time that the person was seen at the document, as far as the newest entries of the history tell. */
function LastSeen({
  texts,
  language,
  action: { user },
  visits,
}: {
  texts: SenderTexts;
  language: Language;
  action: FlowActionView;
  visits: SenderDocument['visits'];
}) {
  const seen = visits.find(({ userId }) => user !== null && userId === user.id);
  if (seen === undefined) return null;
  const [before, after] = texts.list.opened.split('{when}');
  return (
    <span class="what">
      {before}
      <TimeOf language={language} at={seen.date} />
      {after}
    </span>
  );
}

/** Removal of apps and passkeys that people have lost. */
function FactorResets({ action, ...parts }: Parts & { action: FlowActionView }) {
  const { texts, shown } = parts;
  const people = action.user === null ? action.signRuleUsers : [action.user];
  return people
    .filter(({ id }) => shown.factorHolders.has(id))
    .map(({ id, name, email }) => (
      <Sure
        of={parts}
        action={`/account/documents/${shown.document.id}/participants/${action.id}/factor-reset/${id}`}
        ask={filled(texts.page.resetFactor, { name: name ?? email ?? '' })}
        sure={texts.page.resetFactorSure}
      />
    ));
}

/** Members of a group and what each did. */
function GroupMembers({
  texts: { page },
  action: { type, numberRequiredSignatures, signRuleUsers },
}: {
  texts: SenderTexts;
  action: FlowActionView;
}) {
  if (signRuleUsers.length === 0) return null;
  const counts = { needed: String(numberRequiredSignatures), count: String(signRuleUsers.length) };
  const acted = type === 'ApproverRule' ? page.memberApproved : page.memberSigned;
  return (
    <>
      <span class="what">{filled(page.membersNeeded, counts)}</span>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ul class="group-members" role="list">
        {signRuleUsers.map(({ name, email, identifier, signatureDate, hasRefused, refusalReason }) => {
          const done = hasRefused ? page.memberRefused : signatureDate === null ? undefined : acted;
          return (
            <li>
              <bdi>{name ?? email ?? identifier ?? ''}</bdi>
              {done !== undefined && `: ${done}`}
              {refusalReason !== null && (
                <>
                  {' '}
                  (<bdi>{refusalReason}</bdi>)
                </>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Of an action that a deputy has done, both. */
function shownName(action: FlowActionView, { page, texts }: Parts): string {
  const name = nameOf(action, page.words.signing.unnamed);
  const { deputy } = action;
  return deputy === undefined ? name : filled(texts.list.byDeputy, { deputy: deputy.name, person: name });
}

function nameOf({ user, ruleName }: FlowActionView, unnamed: string): string {
  return ruleName ?? user?.name ?? user?.email ?? unnamed;
}

function contentOf(id: string, type: DownloadType): string {
  return `/api/documents/${id}/content?type=${type}`;
}

/** The files besides that of the primary action. */
function Downloads({ texts: { page }, shown }: Parts) {
  const { id, hasSignature, status } = shown.document;
  const hasSigned = hasSignature && mainActionOf(shown) !== 'download';
  const offered: readonly (readonly [DownloadType, string])[] = [
    ['Original', page.original],
    ...(hasSigned ? ([['Signatures', page.signed]] as const) : []),
    ...(hasSignature || status === 'Concluded' ? ([['SignaturesManifest', page.manifest]] as const) : []),
  ];
  return (
    <>
      <h2>{page.downloads}</h2>
      <p class="ways">
        {offered.map(([type, label]) => (
          <ButtonLink href={contentOf(id, type)} download>
            {label}
          </ButtonLink>
        ))}
      </p>
    </>
  );
}

function Cancellation(parts: Parts) {
  const { texts, shown } = parts;
  return (
    <details>
      <summary>{texts.page.cancel}</summary>
      <AccountForm of={parts} isChecked action={`/account/documents/${shown.document.id}/cancel`}>
        <label>
          {texts.page.cancelReason} <input name="reason" maxLength={500} required />
        </label>
        <Button type="submit" rank="bad">
          {texts.page.cancel}
        </Button>
      </AccountForm>
    </details>
  );
}

function Replacement({ texts: { page, editor } }: Parts) {
  const { newVersion, newVersionHint, file, replace } = page;
  const { noFile, uploading, failed } = editor.script;
  const texts = { newVersion, newVersionHint, file, replace };
  const words = { noFile, uploading, failed };
  return <Island name="new-version" of={NewVersion} props={{ texts, words }} needsScript />;
}

function AsTemplate(parts: Parts) {
  const { templates } = parts.texts;
  const { id, name } = parts.shown.document;
  return (
    <details>
      <summary>{templates.save}</summary>
      <p class="hint">{templates.saveHint}</p>
      <AccountForm of={parts} isChecked action={`/account/documents/${id}/template`}>
        <label>
          {templates.name} <input name="name" maxLength={200} value={name} required />
        </label>
        <Button type="submit">{templates.save}</Button>
      </AccountForm>
    </details>
  );
}

/** Mails about the document; those that wait or failed can be sent now. */
function Mails(parts: Parts) {
  const { page, texts, shown } = parts;
  const { document, mails } = shown;
  if (mails.length === 0) return null;
  const kinds: { readonly [about: string]: string } = page.texts.branding.kinds;
  return (
    <section>
      <h2>{texts.page.mails}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ul class="rows" role="list">
        {mails.map(({ id, about, to, status, creationDate, lastError }) => (
          <li data-status={status}>
            <span>
              <bdi>{to}</bdi>: {kinds[about] ?? about},{' '}
              <TimeOf language={page.words.language} at={creationDate} />, {texts.page.mailStates[status]}
              {lastError !== null && (
                <>
                  {' '}
                  <span class="hint" lang="en">
                    {lastError.message}
                  </span>
                </>
              )}
            </span>
            {shown.mayChange && (status === 'Failed' || status === 'Waiting') && (
              <AccountForm
                of={parts}
                isChecked
                action={`/account/documents/${document.id}/mails/${id}/resend`}
              >
                <Button type="submit">{filled(texts.page.mailResend, { to })}</Button>
              </AccountForm>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const MAIL_ENTRIES: ReadonlySet<string> = new Set(['Mailed', 'MailDelivered', 'MailRefused', 'CodeSent']);

function History({ page, texts, shown: { history, older } }: Parts) {
  const { language } = page.words;
  return (
    <>
      <h2>{texts.page.history}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ol class="history" role="list">
        {history.map((entry) => {
          const who = whoOf(entry, page, texts);
          return (
            <li>
              <TimeOf language={language} at={entry.date} />{' '}
              {/* The sentences of the journal are in English. */}
              {language === 'en' ? entry.message : texts.page.historyTypes[entry.type]}
              {who !== '' && !(language === 'en' && entry.message.startsWith(`${who} `)) && (
                <>
                  {' '}
                  <span class="hint">
                    <bdi>{who}</bdi>
                  </span>
                </>
              )}
            </li>
          );
        })}
      </ol>
      {older !== undefined && (
        <p>
          <ButtonLink href={addressFrom(page, older)}>{texts.page.moreHistory}</ButtonLink>
        </p>
      )}
    </>
  );
}

function whoOf(
  { type, by, userId }: DocumentHistoryEntry,
  { words }: AccountPage,
  texts: SenderTexts,
): string {
  // The receiver of a mail did nothing; the English sentence names it.
  if (MAIL_ENTRIES.has(type))
    return words.language === 'en' || by === null ? '' : filled(texts.page.historyReceiver, { name: by });
  return by ?? (userId === null ? texts.page.historyService : words.signing.unnamed);
}
